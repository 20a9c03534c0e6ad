package oracle

import (
	"fmt"
	"strings"
)

// Markdown is the list of differences as docs/compatibility.md has it.
func Markdown() string {
	var b strings.Builder
	for i, d := range Differences {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "### %s\n\nKafka: %s. Gateway: %s.\n\n%s\n", d.What, d.Kafka, d.Gateway, d.Reason)
	}
	return b.String()
}
