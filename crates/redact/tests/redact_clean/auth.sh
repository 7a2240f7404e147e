#!/bin/sh
# The password comes from the environment or from a prompt.
: "${DB_PASSWORD:?set the password}"
PASSWORD=$(cat /run/secrets/db_password)
export PGPASSWORD="$DB_PASSWORD"
TOKEN="${GITHUB_TOKEN:-}"
API_KEY=`pass show api/key2`
read -r -s -p "Password: " PASSWORD
curl -fsS -H "Authorization: Bearer $TOKEN" -H "X-Api-Key: ${API_KEY}" "https://example.org/v1/users?token=$TOKEN"
curl -u "$USER:$PASSWORD" https://example.org/
mysql -u root -p"$PASSWORD" app < dump.sql
mysqldump -p app > dump.sql
docker run -e POSTGRES_PASSWORD -e TOKEN="$TOKEN" --env-file .env postgres:16
git clone "https://x-access-token:${TOKEN}@github.com/example/repo.git"
git push -u origin main2
mkdir -p out/keys1 && cp -p a1 b2
gh auth login --with-token < token.txt
openssl rand -hex 32 > secret.key
tool --password-file /run/secrets/pw1 --token-stdin --api-key-env API_KEY_2
