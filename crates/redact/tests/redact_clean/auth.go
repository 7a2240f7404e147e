package auth

// Config says where the token comes from. The password is read from a file.
type Config struct {
	Password     string `json:"password" yaml:"password" env:"DB_PASSWORD"`
	Token        string `json:"token,omitempty"`
	APIKey       string `json:"api_key"`
	PasswordFile string `json:"password_file"`
}

func (c *Config) Load() error {
	token := os.Getenv("API_TOKEN")
	password, err := os.ReadFile("/run/secrets/db_password")
	if err != nil {
		return fmt.Errorf("read password: %w", err)
	}
	c.Password = strings.TrimSpace(string(password))
	c.Token, c.APIKey = token, viper.GetString("api.key")
	req.Header.Set("Authorization", "Bearer "+token)
	dsn := fmt.Sprintf("postgres://%s:%s@%s/%s?sslmode=disable", user, c.Password, host, name)
	log.Printf("password=%q token=%s key=%v dsn=%s", "***", c.Token[:0], key, redact(dsn))
	return sql.Open("postgres", dsn)
}
