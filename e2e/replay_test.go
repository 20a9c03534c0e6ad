package e2e

import (
	"encoding/binary"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestReplayOfOldClients: clients from before ApiVersions are served as the
// protocol of their time has it, to the byte: conversations made from the
// protocol documents, in testdata/captures/wire.
func TestReplayOfOldClients(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../testdata/captures/wire/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("conversations: %v, %v", paths, err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			t.Parallel()
			d := startDev(t, "--topic", "old:2", "--fetch-compression", "none")
			replay(t, d.kafka, readConversation(t, path))
		})
	}
}

// replay sends the requests of a conversation and compares the replies.
func replay(t *testing.T, broker string, all conversation) {
	t.Helper()
	_, port, err := net.SplitHostPort(broker)
	if err != nil {
		t.Fatal(err)
	}
	listening, err := net.LookupPort("tcp", port)
	if err != nil {
		t.Fatal(err)
	}
	bound := names{"port": binary.BigEndian.AppendUint32(nil, uint32(listening))}
	connections := map[string]net.Conn{}
	requested := map[string][]string{} // titles of requests without a reply yet
	for _, e := range all {
		if connections[e.connection] == nil {
			connections[e.connection] = dialWire(t, broker).conn
		}
		conn := connections[e.connection]
		if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if !e.reply {
			frame, err := bound.frame(e)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Write(frame); err != nil {
				t.Fatalf("%s: %v", e.title, err)
			}
			requested[e.connection] = append(requested[e.connection], e.title)
			continue
		}
		reply, err := readReply(conn)
		if err == nil {
			err = bound.compare(e, reply)
		}
		if err != nil {
			t.Fatalf("reply to one of %q: %v", requested[e.connection], err)
		}
		requested[e.connection] = nil
	}
}

// readReply reads a reply without its length.
func readReply(conn io.Reader) ([]byte, error) {
	length := make([]byte, 4)
	if _, err := io.ReadFull(conn, length); err != nil {
		return nil, err
	}
	reply := make([]byte, binary.BigEndian.Uint32(length))
	_, err := io.ReadFull(conn, reply)
	return reply, err
}
