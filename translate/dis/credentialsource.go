package dis

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/rs/zerolog"
)

// The variables of EnvironmentCredentials, those of the official SDKs.
const (
	EnvAccessKey     = "HUAWEICLOUD_SDK_AK"
	EnvSecretKey     = "HUAWEICLOUD_SDK_SK"
	EnvSecurityToken = "HUAWEICLOUD_SDK_SECURITY_TOKEN"
)

// EnvironmentKeys reads the keys from the environment and names the variables
// without which they are of no use.
func EnvironmentKeys() (keys Keys, missing []string) {
	keys = Keys{AccessKey: os.Getenv(EnvAccessKey), SecretKey: os.Getenv(EnvSecretKey), SecurityToken: os.Getenv(EnvSecurityToken)}
	if strings.TrimSpace(keys.AccessKey) == "" {
		missing = append(missing, EnvAccessKey)
	}
	if strings.TrimSpace(keys.SecretKey) == "" {
		missing = append(missing, EnvSecretKey)
	}
	return keys, missing
}

// EnvironmentCredentials takes the keys from the environment, once; the error
// names the variables that are missing.
func EnvironmentCredentials() (Credentials, error) {
	keys, missing := EnvironmentKeys()
	if len(missing) > 0 {
		return nil, fmt.Errorf("the environment lacks the keys for DIS: set %s", strings.Join(missing, ", "))
	}
	return StaticCredentials(keys), nil
}

// CredentialsSource says where keys come from.
type CredentialsSource string

// The sources of keys.
const (
	// CredentialsAuto is a file if one is named, else the environment. The metadata
	// service has to be asked for: a host that has none would only learn of the
	// missing keys by a timeout.
	CredentialsAuto            CredentialsSource = "auto"
	CredentialsFromEnvironment CredentialsSource = "environment"
	CredentialsFromFile        CredentialsSource = "file"
	CredentialsFromMetadata    CredentialsSource = "metadata"
)

// CredentialsConfig chooses a source of keys.
type CredentialsConfig struct {
	// Source is CredentialsAuto by default.
	Source CredentialsSource
	// File is the file of CredentialsFromFile.
	File string
	// MetadataEndpoint is by default DefaultMetadataEndpoint.
	MetadataEndpoint string
	// Logger gets a line when a file changes or turns bad, and when keys cannot be
	// refreshed.
	Logger zerolog.Logger
}

// Chosen is the source that counts: never CredentialsAuto.
func (c CredentialsConfig) Chosen() CredentialsSource {
	switch {
	case c.Source != "" && c.Source != CredentialsAuto:
		return c.Source
	case c.File != "":
		return CredentialsFromFile
	default:
		return CredentialsFromEnvironment
	}
}

// NewCredentials opens the chosen source. It reads a file or the environment, and
// does not ask the metadata service yet.
func NewCredentials(cfg CredentialsConfig) (Credentials, error) {
	source, err := oneOf("Source", cfg.Source, CredentialsAuto, CredentialsFromEnvironment, CredentialsFromFile, CredentialsFromMetadata)
	if err != nil {
		return nil, err
	}
	cfg.Source = source
	chosen := cfg.Chosen()
	if (cfg.File != "") != (chosen == CredentialsFromFile) {
		return nil, errors.New("the source \"file\" needs a File, and no other source takes one")
	}
	switch chosen {
	case CredentialsFromFile:
		return FileCredentials(cfg.File, cfg.Logger)
	case CredentialsFromEnvironment:
		return EnvironmentCredentials()
	default:
		return MetadataCredentials(cfg.MetadataEndpoint, cfg.Logger)
	}
}
