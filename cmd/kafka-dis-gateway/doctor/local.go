package doctor

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"
)

// enoughFiles is how many files and sockets a gateway of a busy host may want: a
// thousand connections of clients and those to DIS, several times over.
const enoughFiles = 4096

func openFilesLimit() (uint64, error) {
	var limit syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)
	return limit.Cur, err
}

func lookOpenFiles(_ context.Context, e *examination) []Result {
	limit, err := e.cfg.openFiles()
	switch {
	case err != nil:
		return doubtful("see ulimit -n", "the limit of open files is not known: %v", err)
	case limit < enoughFiles:
		return doubtful("raise it (ulimit -n, LimitNOFILE of systemd)", "%d files and sockets may be open: one for each client and each request to DIS", limit)
	default:
		return good("%d files and sockets may be open", limit)
	}
}

func lookMemory(_ context.Context, e *examination) []Result {
	available, err := e.cfg.MemoryAvailable()
	need := inMiB(e.cfg.MemoryNeeded)
	switch {
	case err != nil:
		return doubtful("compare the limit of the container with what is needed", "%s are needed with full buffers, and what there is is not known: %v", need, err)
	case available == 0:
		return good("%s are needed with full buffers, and no limit is set for this process", need)
	case available < e.cfg.MemoryNeeded:
		return doubtful("lower --fetch-cache and --produce-buffer, or raise the container's limit",
			"%s are needed with full buffers, the container has %s and is killed above that", need, inMiB(available))
	default:
		return good("%s are needed with full buffers, the container has %s", need, inMiB(available))
	}
}

func inMiB(bytes int64) string { return fmt.Sprintf("%d MiB", bytes>>20) }

// addressCheck opens an address for a moment. One that is in use is no failure when
// it is a gateway that has it.
func addressCheck(setting, address string) check {
	return check{name: "address", subject: address, needs: []string{"settings"}, run: func(ctx context.Context, e *examination) []Result {
		for _, one := range bound(address) {
			err := tryListen(ctx, one)
			if err == nil {
				continue
			}
			if errors.Is(err, syscall.EADDRINUSE) {
				return e.inUse(ctx, setting, one)
			}
			return bad("give another address in --"+setting+": one of this machine, and a port above 1023 or the right to open it", "it cannot be opened: %v", err)
		}
		return good("free, for --%s", setting)
	}}
}

// bound are the addresses that stand for one of the settings.
func bound(address string) []string {
	port, isLocalhost := strings.CutPrefix(address, "localhost:")
	if !isLocalhost {
		return []string{address}
	}
	return []string{"127.0.0.1:" + port, "[::1]:" + port}
}

func tryListen(ctx context.Context, address string) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if errors.Is(err, syscall.EADDRNOTAVAIL) && strings.HasPrefix(address, "[::1]") || errors.Is(err, syscall.EAFNOSUPPORT) {
		return nil // a machine without IPv6
	}
	if err != nil {
		return err
	}
	return listener.Close()
}

func (e *examination) inUse(ctx context.Context, setting, address string) []Result {
	switch {
	case e.gateway.Load() != nil:
		return good("in use, as it seems by the gateway that runs here")
	case setting != "admin-listen" && speaksKafka(ctx, address):
		return doubtful("nothing, if that is this gateway; otherwise give another --"+setting, "in use by a Kafka server, perhaps this gateway")
	default:
		return bad("stop the program that has it, or give another --"+setting, "in use by another program")
	}
}

// speaksKafka sends ApiVersions of version 0, which needs no authentication with
// any Kafka server, and wants its correlation id back.
func speaksKafka(ctx context.Context, address string) bool {
	const correlation = 0x6b646764
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	defer conn.Close() // nothing is lost
	if deadline, ok := ctx.Deadline(); ok && conn.SetDeadline(deadline) != nil {
		return false
	}
	request := binary.BigEndian.AppendUint32(nil, 10) // length of what follows
	request = binary.BigEndian.AppendUint16(request, 18)
	request = binary.BigEndian.AppendUint16(request, 0)
	request = binary.BigEndian.AppendUint32(request, correlation)
	request = binary.BigEndian.AppendUint16(request, 0xffff) // no client id
	if _, err := conn.Write(request); err != nil {
		return false
	}
	var answer [8]byte // length, correlation id
	_, err = io.ReadFull(conn, answer[:])
	return err == nil && binary.BigEndian.Uint32(answer[4:]) == correlation
}
