package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/cmd/kafka-dis-gateway/adminpage"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/gateway/harmless"
)

// healthCommand is the probe of a container, in which there is no shell and no
// other program that could ask.
type healthCommand struct {
	Ready       bool          `help:"Ask whether the gateway should get clients (/readyz), not only whether it lives (/healthz)."`
	AdminListen string        `default:"127.0.0.1:9644" placeholder:"ADDR" help:"The gateway's --admin-listen. Default: 127.0.0.1:9644."`
	Timeout     time.Duration `default:"2s" min:"1ms" placeholder:"TIME" help:"How long to wait for the answer. Default: 2s."`
	Config      string        `placeholder:"FILE" help:"The gateway's YAML file with settings; keys of other commands are left alone."`
}

// Help is shown below the flags.
func (healthCommand) Help() string {
	return "Prints one line: exit code 0 when all is well, 1 with the reason when not. In the environment and the file are the " +
		"settings of the gateway that is asked; flags that it was started with have to be given here too."
}

func (h *healthCommand) check(found *problems) {
	if h.AdminListen == "" {
		found.setting("admin-listen", errors.New("empty: the gateway has no address to be asked at"))
		return
	}
	if err := validAddress(h.AdminListen); err != nil {
		found.setting("admin-listen", err)
		return
	}
	if strings.HasSuffix(h.AdminListen, ":0") {
		found.setting("admin-listen", fmt.Errorf("%q is any free port: give the one that the gateway has", h.AdminListen))
	}
}

func (h *healthCommand) run(signals *signals, stdout, _ io.Writer) error {
	ctx, cancel := context.WithTimeout(signals.drain, h.Timeout)
	defer cancel()
	page := "/healthz"
	if h.Ready {
		page = "/readyz"
	}
	text, err := h.ask(ctx, page)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(stdout, text)
	return err
}

// goodWords begin the text of each page when all is well. Another program that has the
// address and answers 200 to everything says something else.
var goodWords = map[string]string{"/healthz": "ok", "/readyz": "ready"}

// longestReason is how much of a page is read and repeated, in bytes.
const longestReason = 4 << 10

// ask gets a page and returns its text as one line.
func (h *healthCommand) ask(ctx context.Context, page string) (string, error) {
	status, content, err := adminpage.Get(ctx, h.AdminListen, page, longestReason)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "", fmt.Errorf("no answer from %s%s within %s", h.AdminListen, page, h.Timeout)
	case err != nil:
		return "", fmt.Errorf("no gateway answers at --admin-listen %s: %w", h.AdminListen, err)
	}
	text := harmless.OneLine(content)
	switch status {
	case http.StatusOK:
		if word, _, _ := strings.Cut(text, " "); word != goodWords[page] {
			return "", fmt.Errorf("%s%s answered %.40q: is it a gateway?", h.AdminListen, page, text)
		}
		return text, nil
	case http.StatusServiceUnavailable:
		return "", fmt.Errorf("not ready: %s", text)
	default:
		return "", fmt.Errorf("%s%s answered %d %s: is it a gateway?", h.AdminListen, page, status, http.StatusText(status))
	}
}
