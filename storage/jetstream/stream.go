package jetstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tabhub/storage"
)

// streamName is that of the stream of all users' journals.
const streamName = "TABHUB_USERS"

// formatVersion is what the stream says of the journals in it, and the first byte of each payload.
const (
	formatVersion = 1
	formatKey     = "tabhub-format" // in the stream's metadata
)

// Errors of Open.
var (
	// ErrNoJetStream: the NATS servers do not offer JetStream.
	ErrNoJetStream = errors.New("NATS has no JetStream")
	// ErrOldServer: the NATS servers do not know what the store asks for.
	ErrOldServer = errors.New("NATS is too old")
	// ErrReplicas: there are fewer NATS servers than replicas.
	ErrReplicas = errors.New("NATS has too few servers")
	// ErrStream: the stream is not as this program makes it.
	ErrStream = errors.New("the stream " + streamName + " cannot keep users")
)

// openStream makes the stream, or checks that what is there is one.
func (s *Store) openStream(ctx context.Context) error {
	return s.persist(ctx, func(ctx context.Context) error {
		info, err := s.js.AccountInfo(ctx)
		if err != nil {
			return explain(err)
		}
		if info.API.Level < 1 { // no batches of direct gets
			return fmt.Errorf("%w: the server is version %s; use 2.11 or newer", ErrOldServer, s.nc.ConnectedServerVersion())
		}
		st, err := s.js.Stream(ctx, streamName)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			st, err = s.js.CreateStream(ctx, jetstream.StreamConfig{
				Name:        streamName,
				Description: "tabhub: the state of each user",
				Subjects:    []string{subjectPrefix + "*"},
				Storage:     jetstream.FileStorage,
				Replicas:    s.opts.Replicas,
				AllowDirect: true,
				DenyDelete:  true,
				Metadata:    map[string]string{formatKey: strconv.Itoa(formatVersion)},
			})
		}
		if err != nil {
			return s.explainReplicas(explain(err))
		}
		s.stream = st
		config := st.CachedInfo().Config
		if err := checkStream(&config); err != nil {
			return err
		}
		if config.Replicas >= s.opts.Replicas {
			return nil
		}
		config.Replicas = s.opts.Replicas
		_, err = s.js.UpdateStream(ctx, config)
		return s.explainReplicas(explain(err))
	})
}

func checkStream(c *jetstream.StreamConfig) error {
	format, err := strconv.Atoi(c.Metadata[formatKey])
	switch {
	case err != nil || format < 1:
		return fmt.Errorf("%w: another program made it; use another NATS account", ErrStream)
	case format > formatVersion:
		return fmt.Errorf("%w: %s has format %d, this program knows %d; use the newer program on this node, too",
			storage.ErrNewer, streamName, format, formatVersion)
	case c.Storage != jetstream.FileStorage || c.Retention != jetstream.LimitsPolicy || c.MaxAge != 0 || c.MaxMsgs > 0 || c.MaxMsgsPerSubject > 0 || !c.AllowDirect:
		return fmt.Errorf("%w: it must keep all messages in files and allow direct gets; set it back with `nats stream edit`", ErrStream)
	}
	return nil
}

// explain returns err as one of this package's, if it is one.
func explain(err error) error {
	switch {
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return fmt.Errorf("%w: set `jetstream {}` in the servers' configuration, and allow it for the account", ErrNoJetStream)
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return fmt.Errorf("%w: there is none", ErrLost)
	}
	return err
}

// The server's codes that say something to us.
const (
	codeNoPeers          jetstream.ErrorCode = 10005
	codeNotLeader        jetstream.ErrorCode = 10009
	codeNoResources      jetstream.ErrorCode = 10023
	codeNoMessage        jetstream.ErrorCode = 10037
	codeStreamNotFound   jetstream.ErrorCode = 10059
	codeWrongSequence    jetstream.ErrorCode = 10071
	codeReplicas         jetstream.ErrorCode = 10074
	codeStreamOffline    jetstream.ErrorCode = 10118
	codeSubjectInProcess jetstream.ErrorCode = 10164
)

func (s *Store) explainReplicas(err error) error {
	if e, ok := errors.AsType[*jetstream.APIError](err); ok && (e.ErrorCode == codeReplicas || e.ErrorCode == codeNoPeers) {
		return fmt.Errorf("%w: %d replicas of %s need as many servers with JetStream and space; start them, or ask for fewer replicas (%s)",
			ErrReplicas, s.opts.Replicas, streamName, e.Description)
	}
	return err
}

// final are errors after which trying again is of no use.
var final = []error{
	ErrNoJetStream, ErrOldServer, ErrReplicas, ErrStream, ErrLost, storage.ErrNewer, storage.ErrCorrupt,
	nats.ErrConnectionClosed, nats.ErrMaxPayload,
}

// temporary reports whether what failed may work later, as it is while servers elect a leader, or
// after any error of the network.
func temporary(err error) bool {
	if e, ok := errors.AsType[*jetstream.APIError](err); ok {
		switch e.ErrorCode {
		case codeNoResources:
			return false
		case codeNotLeader, codeStreamOffline, codeSubjectInProcess:
			return true
		}
		return e.Code == 503 || e.Code == 429
	}
	if _, ok := errors.AsType[*supersededError](err); ok {
		return false
	}
	return !slices.ContainsFunc(final, func(f error) bool { return errors.Is(err, f) })
}
