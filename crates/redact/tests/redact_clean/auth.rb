# The password is checked by has_secure_password.
class User < ApplicationRecord
  has_secure_password
  validates :password, length: { minimum: 12 }, if: :password_required?
  encrypts :token, deterministic: true

  def authenticate(password:, token: nil)
    return unless BCrypt::Password.new(password_digest) == password
    update!(token: SecureRandom.hex(32), password_changed_at: Time.current)
    Rails.application.credentials.secret_key_base
  end
end
config.secret_key_base = ENV["SECRET_KEY_BASE"]
config.api_key = Rails.application.credentials.dig(:api, :key2)
params.require(:user).permit(:username, :password, :password_confirmation)
