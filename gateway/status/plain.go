package status

import "github.com/kafka-dis-gateway/kafka-dis-gateway/gateway/harmless"

// The most bytes that are shown of a name, and of a message. Kafka lets clients
// choose group ids of 32 KiB.
const (
	maxName    = 200
	maxMessage = 600
)

// name is a name that came from a client, fit to be shown.
func name(text string) string { return plain(text, maxName) }

// message is a text of DIS or of an error, fit to be shown.
func message(text string) string { return plain(text, maxMessage) }

// plain is the beginning of a text without what could make it look like another:
// bytes that are no UTF-8, control characters, and the invisible ones that change
// the direction of what follows.
func plain(text string, most int) string {
	shown := harmless.Text(text[:min(len(text), most)])
	if len(text) > most {
		shown += "…"
	}
	return shown
}
