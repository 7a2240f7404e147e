import { createHash, randomBytes } from "node:crypto";
import type { Session, Token } from "./session2";

export interface Credentials {
  username: string;
  password: string;
  token?: Token;
  apiKey: string | undefined;
  readonly secret: Uint8Array;
}

const TOKEN_KEY = "auth.token";
const API_KEY_HEADER = "x-api-key";
const schema = z.object({ password: z.string().min(12), token: z.string().optional() });
const token = process.env.API_TOKEN ?? "";
const { password, apiKey } = config.credentials;

export async function login({ username, password, token }: Credentials): Promise<Session> {
  const body = JSON.stringify({ username, password, token: token?.value });
  const response = await fetch(`${base}/login?token=${token}`, {
    headers: { Authorization: `Bearer ${token}`, "X-Api-Key": apiKey, Cookie: document.cookie },
    body,
  });
  localStorage.setItem(TOKEN_KEY, response.token);
  session.password = undefined;
  session.accessToken = response.data.access_token;
  const key = createHash("sha256").update(password).digest("hex").slice(0, 16);
  return { ...session, key, token: response.token, secretKey: await deriveKey(password, salt1) };
}

export const messages = {
  password: "Password",
  passwordHint: "At least 12 letters and 1 digit",
  forgotPassword: "Forgot your password?",
  token: "Token from your mail (6 digits)",
  invalidToken: "This token has expired. Ask for a new one.",
  secret: "Keep it secret",
};
