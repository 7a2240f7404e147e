//! Checks that run at each anchor of a text.

use super::commands::CommandScan;
use super::prefilter::{self, Anchor};
use super::private_keys::KeyScan;
use super::scan::{Scanner, mark_end};
use super::sentences::SentenceScan;

impl Scanner<'_> {
    /// Runs the checks of an anchor; returns the earliest offset at which the scan continues.
    pub(super) fn inspect_anchor(&mut self, at: usize) -> usize {
        // Anchors inside of a secret need no check.
        if self.covered.contains(&at) {
            return at;
        }
        let mut go_on = at;
        let bytes = self.bytes;
        prefilter::at(bytes, at, |look| match look {
            Anchor::Format(number) => self.match_format(number, at),
            Anchor::Name => self.check_name(at),
            Anchor::Bearer => self.match_bearer(at),
            Anchor::Facebook => self.match_facebook(at),
            Anchor::NumberPair => self.match_number_pair(at),
            Anchor::Twilio => self.match_twilio(at),
            Anchor::OldVault => self.match_old_vault(at + 1),
            Anchor::Url => self.match_url(at),
            Anchor::Pem => KeyScan(self).match_pem(at),
            Anchor::PemEnd => KeyScan(self).match_pem_end(at),
            Anchor::KeyBody => KeyScan(self).match_key_body(at),
            Anchor::PuttyLines => KeyScan(self).match_putty(at),
            Anchor::Mark => go_on = mark_end(bytes, at).unwrap_or(at),
            Anchor::UserOption => self.match_user_option(at),
            Anchor::PasswordOption => self.match_password_option(at),
            Anchor::Curl => self.note_curl(at),
            Anchor::Mysql => self.note_mysql(at),
            Anchor::Noun(number) => SentenceScan(self).match_noun(number, at),
            Anchor::LoginPair => SentenceScan(self).match_login_pair(at),
            Anchor::CommandOption => CommandScan(self).match_command_option(at),
            Anchor::NetUser => CommandScan(self).match_net_user(at),
            Anchor::Positional => CommandScan(self).match_positional(at),
            Anchor::Oracle => CommandScan(self).match_oracle(at),
            Anchor::PgPass => CommandScan(self).match_pgpass(at),
            Anchor::IdentifiedBy => self.match_identified_by(at),
        });
        go_on
    }
}
