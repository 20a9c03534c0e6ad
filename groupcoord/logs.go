package groupcoord

// longestLogged bounds, in bytes, the names from clients in log lines, and reasons that
// name one. They may choose names of 32 KiB, and of a megabyte since KIP-482.
const longestLogged = 200

// cut is the beginning of a name from a client, for a log line.
func cut(name string) string { return name[:min(len(name), longestLogged)] }
