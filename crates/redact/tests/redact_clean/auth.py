"""Passwords are hashed with argon2; tokens live for 3600 seconds."""

import os
import secrets
from dataclasses import dataclass

SECRET_KEY = os.environ["SECRET_KEY"]
API_TOKEN = os.getenv("API_TOKEN_V2", "")
PASSWORD_MIN_LENGTH = 12
TOKEN_URL = "https://auth.example.org/oauth2/token"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]


@dataclass
class Login:
    username: str
    password: str
    token: str | None = None
    api_key: SecretStr = Field(default=None)


class AuthError(Exception):
    message = "wrong password or token"


def login(username, password, token=None, api_key=None):
    """Checks the password, then the token. The password is never logged."""
    user = find_user(username=username, password=password)
    if not check_password(password, user.password_hash):
        raise AuthError("the password is wrong")
    token = secrets.token_urlsafe(32)
    session = Session(token=token, secret=settings.SESSION_SECRET_2, key=user.api_key_v2)
    session.headers.update({"Authorization": f"Bearer {token}", "X-Api-Key": api_key})
    headers = {"Authorization": "Basic " + encode(user, password)}
    cookies = dict(sessionid=session.id, csrftoken=token)
    return Response(token=token, password=None, expires=3600)


def test_login(client):
    response = client.post("/login", data={"password": get_password(), "token": make_token(1)})
    assert response.json()["token"] == token1
    assert password != old_password2 and token is not None
    for key, value in sorted(credentials.items()):
        print(f"{key}={value} password={password!r} token={token}")
