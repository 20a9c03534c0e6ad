package offsets

import (
	"context"
	"encoding/base32"
	"fmt"
	"strings"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// escapePrefix marks an app name that is an escaped group id.
const escapePrefix = "kdgx-"

var escapeText = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// AppName gives the DIS app that stands for a group. A group id of A-Z a-z 0-9 _
// and - stays itself, so that the DIS Kafka adapter and the console show the
// same name; any other becomes "kdgx-" and the base32 of its bytes, in lower
// case and without padding. So do the empty id, whose offsets Kafka stores as
// well, and an id that begins with "kdgx-": two groups never share an app.
//
// The error is a translate.ErrInvalidGroup: the app's name would be longer than
// maxLength.
func AppName(group string, maxLength int) (string, error) {
	app := group
	if !isAppName(group) || strings.HasPrefix(group, escapePrefix) {
		app = escapePrefix + escapeText.EncodeToString([]byte(group))
	}
	if len(app) > maxLength {
		return "", fmt.Errorf("%w: the DIS app of group %.80q needs a name of %d characters, DIS allows %d", translate.ErrInvalidGroup, group, len(app), maxLength)
	}
	return app, nil
}

// GroupName is the group that an app stands for; false for an app that no group
// id leads to.
func GroupName(app string) (string, bool) {
	escaped, isEscaped := strings.CutPrefix(app, escapePrefix)
	if !isEscaped {
		return app, isAppName(app)
	}
	group, err := escapeText.DecodeString(escaped)
	if err != nil {
		return "", false
	}
	// Base32 has several texts for the same bytes; only one is ours.
	again, err := AppName(string(group), len(app))
	return string(group), err == nil && again == app
}

func isAppName(text string) bool {
	for _, char := range []byte(text) {
		if !(char >= 'a' && char <= 'z' || char >= 'A' && char <= 'Z' || char >= '0' && char <= '9' || char == '_' || char == '-') {
			return false
		}
	}
	return text != ""
}

// Groups gives the ids of the groups that have an app, in no order.
func (s *Store) Groups(ctx context.Context) ([]string, error) {
	apps, err := s.checkpoints.ListApps(ctx, "")
	if err != nil {
		return nil, fmt.Errorf("list groups: %w", err)
	}
	groups := make([]string, 0, len(apps))
	for _, app := range apps {
		if group, ok := GroupName(app.AppName); ok {
			groups = append(groups, group)
		}
	}
	return groups, nil
}

// Exists reports whether the group has an app.
func (s *Store) Exists(ctx context.Context, group string) (bool, error) {
	name, err := AppName(group, s.cfg.MaxAppName)
	if err != nil {
		return false, nil // no app can have it
	}
	_, err = s.checkpoints.DescribeApp(ctx, name)
	switch {
	case dis.HasCode(err, wire.CodeAppNotFound):
		return false, nil
	case dis.HasCode(err, wire.CodeNoCheckpoint):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("describe app %s: %w", name, err)
	}
	return true, nil
}

// Delete removes the app of a group, and with it every committed offset. The code
// of the failure is 69 when there is none, 68 when somebody consumes with it.
func (s *Store) Delete(ctx context.Context, group string) translate.Failure {
	name, err := AppName(group, s.cfg.MaxAppName)
	if err != nil {
		return translate.Failure{Code: codeGroupNotFound, Message: err.Error()}
	}
	s.known.forget(name)
	if err := s.checkpoints.DeleteApp(ctx, name); err != nil {
		return translate.KafkaError(translate.CallDeleteGroup, fmt.Errorf("delete app %s: %w", name, err))
	}
	return translate.Failure{}
}

// ensureApp creates an app unless another call for it is under way or someone
// else was faster. The creation is shared, so it outlives the caller's context.
func (s *Store) ensureApp(ctx context.Context, app string) error {
	created := s.apps.DoChan(app, func() (any, error) {
		err := s.checkpoints.CreateApp(context.WithoutCancel(ctx), app)
		if dis.HasCode(err, wire.CodeAppExists) {
			return nil, nil
		}
		return nil, err
	})
	select {
	case result := <-created:
		if result.Err != nil {
			return fmt.Errorf("create app %s: %w", app, result.Err)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("create app %s: %w", app, ctx.Err())
	}
}
