package dis

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/rs/zerolog"
)

// fileCredentials are keys in a file.
type fileCredentials struct{ file *watchedFile[Keys] }

// FileCredentials reads keys from a YAML file of this form, JSON included:
//
//	access_key: AK
//	secret_key: SK
//	security_token: only for temporary keys
//
// The file is read again when it has changed and then stayed the same for a
// second, so that a half-written one does no harm. One that turns bad leaves the
// last good keys in force, which is logged once. The error of a bad file never
// quotes it.
func FileCredentials(path string, logger zerolog.Logger) (Credentials, error) {
	file, err := watchFile(path, logger, parseKeys)
	if err != nil {
		return nil, fmt.Errorf("credentials file: %w", err)
	}
	return &fileCredentials{file}, nil
}

// Get answers from memory, but for one look at the file per second.
func (f *fileCredentials) Get(context.Context) (Keys, error) { return f.file.get(), nil }

// String names the file and none of the secrets.
func (f *fileCredentials) String() string { return "keys in " + f.file.path }

// GoString does the same for %#v.
func (f *fileCredentials) GoString() string { return f.String() }

func parseKeys(content []byte) (Keys, error) {
	var file struct {
		AccessKey     any `yaml:"access_key"`
		SecretKey     any `yaml:"secret_key"`
		SecurityToken any `yaml:"security_token"`
	}
	if err := yaml.UnmarshalWithOptions(content, &file, yaml.Strict()); err != nil {
		return Keys{}, fmt.Errorf("%swant a mapping of access_key, secret_key and, for temporary keys, security_token", line(err))
	}
	var mistakes []error
	text := func(name string, value any, needed bool) string {
		text, isText := value.(string)
		text = strings.TrimSpace(text)
		switch {
		case value != nil && !isText:
			// YAML would turn 0123 into 83.
			mistakes = append(mistakes, fmt.Errorf("%s: put the value in quotes, it reads as a number or the like", name))
		case text == "" && needed:
			mistakes = append(mistakes, fmt.Errorf("%s: must be set", name))
		}
		return text
	}
	keys := Keys{
		AccessKey:     text("access_key", file.AccessKey, true),
		SecretKey:     text("secret_key", file.SecretKey, true),
		SecurityToken: text("security_token", file.SecurityToken, false),
	}
	return keys, errors.Join(mistakes...)
}

// line says where a YAML mistake is. The mistake's own text quotes the file.
func line(err error) string {
	var mistake yaml.Error
	if errors.As(err, &mistake) && mistake.GetToken() != nil {
		return fmt.Sprintf("line %d: ", mistake.GetToken().Position.Line)
	}
	return ""
}

// fileToken is a token in a file.
type fileToken struct{ file *watchedFile[string] }

// FileToken reads an IAM token from a file that holds nothing else, and reads it
// again as FileCredentials does.
func FileToken(path string, logger zerolog.Logger) (TokenSource, error) {
	file, err := watchFile(path, logger, func(content []byte) (string, error) {
		token := strings.TrimSpace(string(content))
		if token == "" || strings.ContainsAny(token, " \t\r\n") {
			return "", errors.New("want a token and nothing else")
		}
		return token, nil
	})
	if err != nil {
		return nil, fmt.Errorf("token file: %w", err)
	}
	return &fileToken{file}, nil
}

// Token answers from memory, but for one look at the file per second.
func (f *fileToken) Token(context.Context) (string, error) { return f.file.get(), nil }

// String names the file and not the token.
func (f *fileToken) String() string { return "token in " + f.file.path }

// GoString does the same for %#v.
func (f *fileToken) GoString() string { return f.String() }
