//! Options of commands that take a secret and do not have a telling name.

/// Form of the argument of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Argument {
    /// The secret alone.
    Secret,
    /// `user:secret`, with this sign between them.
    Pair(u8),
    /// A secret on standard input.
    Input,
}

/// An option that takes a secret: commands, a word that the command line must have, the option.
pub(super) struct SecretOption {
    pub(super) commands: &'static [&'static str],
    /// Subcommand; empty if any fits.
    pub(super) with: &'static str,
    pub(super) option: &'static str,
    pub(super) argument: Argument,
}

const fn secret(
    commands: &'static [&'static str],
    with: &'static str,
    option: &'static str,
) -> SecretOption {
    SecretOption {
        commands,
        with,
        option,
        argument: Argument::Secret,
    }
}

pub(super) const OPTIONS: &[SecretOption] = &[
    secret(
        &[
            "docker", "podman", "nerdctl", "buildah", "helm", "oras", "crane", "az", "oc", "cf",
            "skopeo", "argocd", "scw", "faas-cli",
        ],
        "login",
        "-p",
    ),
    secret(&["twine", "poetry"], "", "-p"),
    secret(
        &[
            "mongo",
            "mongosh",
            "mongodump",
            "mongorestore",
            "mongoexport",
            "mongoimport",
            "mongostat",
            "mongotop",
            "mongofiles",
        ],
        "",
        "-p",
    ),
    secret(
        &[
            "cqlsh",
            "snowsql",
            "psexec",
            "couchbase-cli",
            "cbq",
            "rdesktop",
            "evil-winrm",
            "crackmapexec",
            "nxc",
            "hydra",
            "isql",
            "arangodump",
            "ncat-ssl",
            "cypher-shell",
            "nodetool",
            "nuxeoctl",
            "solace",
            "ilorest",
            "racadm",
            "kaggle",
        ],
        "",
        "-p",
    ),
    secret(
        &[
            "zip",
            "unzip",
            "zipcloak",
            "ipmitool",
            "sqlcmd",
            "bcp",
            "mosquitto_pub",
            "mosquitto_sub",
            "mosquitto_rr",
            "osql",
            "impala-shell",
            "fluxctl",
        ],
        "",
        "-P",
    ),
    secret(&["redis-cli", "keydb-cli", "valkey-cli"], "", "-a"),
    secret(
        &[
            "ldapsearch",
            "ldapadd",
            "ldapmodify",
            "ldapdelete",
            "ldappasswd",
            "ldapwhoami",
            "ldapcompare",
            "ldapmodrdn",
            "dsconfig",
            "dsconf",
            "mopidy",
        ],
        "",
        "-w",
    ),
    secret(&["plink", "pscp", "psftp", "puttygen"], "", "-pw"),
    secret(&["openssl"], "enc", "-k"),
    secret(&["nuget", "dotnet"], "push", "-k"),
    secret(&["doctl", "glab", "gitea", "tea"], "", "-t"),
    secret(&["samba-tool", "ldappasswd"], "", "-s"),
    SecretOption {
        commands: &["smbclient", "rpcclient", "smbmap", "net", "wmic", "winexe"],
        with: "",
        option: "-U",
        argument: Argument::Pair(b'%'),
    },
    SecretOption {
        commands: &["http", "https", "xh", "xhs"],
        with: "",
        option: "-a",
        argument: Argument::Pair(b':'),
    },
    SecretOption {
        commands: &["lftp", "ncftp"],
        with: "",
        option: "-u",
        argument: Argument::Pair(b','),
    },
    SecretOption {
        commands: &["wget2", "aria2c", "hey", "siege", "httpie", "restic"],
        with: "",
        option: "-a",
        argument: Argument::Pair(b':'),
    },
    SecretOption {
        commands: &["ab"],
        with: "",
        option: "-A",
        argument: Argument::Pair(b':'),
    },
    SecretOption {
        commands: &["sudo"],
        with: "",
        option: "-S",
        argument: Argument::Input,
    },
];
