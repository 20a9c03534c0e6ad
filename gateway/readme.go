package gateway

import (
	"fmt"
	"strings"
)

// APIsMarkdown is the table of the APIs and their versions as the README shows
// it between the lines `<!-- apis:begin -->` and `<!-- apis:end -->`, in the
// order of the keys.
func APIsMarkdown() string {
	var b strings.Builder
	b.WriteString("| Kafka API | key | versions |\n|---|---:|---|\n")
	for _, a := range apiTable(Config{}, Parts{}) {
		fmt.Fprintf(&b, "| %s | %d | %d to %d |\n", a.name, a.key, a.min, a.max)
	}
	return b.String()
}
