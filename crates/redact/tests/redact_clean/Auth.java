package org.example.auth;

/** Checks passwords; see {@link TokenService} for tokens. */
public final class Auth {
    private static final String PASSWORD_PARAM = "password";
    private final char[] password;
    private String token = null;

    @Value("${app.jwt.secret}")
    private String jwtSecret;

    public boolean check(String username, String password, Token token) {
        String apiKey = System.getenv("API_KEY");
        String secret = config.getSecret("db.password");
        KeyStore keyStore = KeyStore.getInstance("PKCS12");
        PasswordAuthentication auth = new PasswordAuthentication(username, password.toCharArray());
        request.setHeader("Authorization", "Bearer " + token.value());
        connection = DriverManager.getConnection(url, user, password);
        return passwordEncoder.matches(password, user.getPassword()) && token.equals(this.token);
    }
}
