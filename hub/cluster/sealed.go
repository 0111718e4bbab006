package cluster

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"tabhub/spec"
	"tabhub/storage/jetstream/streams"
)

// keys are made of the cluster's secret and its id.
type keys struct {
	cluster string
	members []byte // sign the records of nodes
	check   []byte // proves that a node has the secret
	sealer  cipher.AEAD
}

const minSecret = 16

func newKeys(secret []byte, cluster string) (keys, error) {
	k := keys{cluster: cluster}
	derive := func(purpose string) []byte {
		key, err := hkdf.Key(sha256.New, secret, []byte(cluster), "tabhub "+purpose, 32)
		if err != nil {
			panic(err) // too long a key
		}
		return key
	}
	k.members, k.check = derive("members"), derive("check")
	block, err := aes.NewCipher(derive("documents"))
	if err != nil {
		return k, err
	}
	k.sealer, err = cipher.NewGCMWithRandomNonce(block)
	return k, err
}

// identity is what makes a cluster, under its key of the bucket.
type identity struct {
	ID    string `json:"id"`
	Check []byte `json:"check"` // lets a node see that it has the same secret
}

const identityKey = "cluster"

// openIdentity reads the cluster's identity and checks the secret. If there is none it makes a new one,
// unless NATS has users already.
func openIdentity(ctx context.Context, b *bucket, secret []byte, hasUsers func(context.Context) (bool, error)) (keys, error) {
	if hasUsers != nil {
		had, err := hasUsers(ctx) // before the identity is read: a cluster stores that before its first user
		if err != nil {
			return keys{}, streams.Explain(err, 0)
		}
		if m, err := b.last(ctx, identityKey); had && err == nil && m.Sequence == 0 {
			return keys{}, fmt.Errorf("%w: put back the stream KV_%s from a backup; without one these users are lost, and `nats stream rm` of the streams of tabhub begins anew", ErrForgotten, clusterBucket)
		} else if err != nil {
			return keys{}, streams.Explain(err, 0)
		}
	}
	made := identity{ID: rand.Text()}
	k, err := newKeys(secret, made.ID)
	if err != nil {
		return k, err
	}
	made.Check = k.check
	doc, err := json.Marshal(made)
	if err != nil {
		return k, err
	}
	if doc, err = b.create(ctx, identityKey, doc); err != nil {
		return k, streams.Explain(err, 0)
	}
	var found identity
	if err := json.Unmarshal(doc, &found); err != nil || found.ID == "" {
		return k, fmt.Errorf("the key %s of the bucket %s is damaged", identityKey, clusterBucket)
	}
	if k, err = newKeys(secret, found.ID); err != nil {
		return k, err
	}
	if !hmac.Equal(k.check, found.Check) {
		return k, fmt.Errorf("%w: all nodes of a cluster have the same file for cluster-secret", ErrSecret)
	}
	return k, nil
}

// create writes a key unless it is there, and returns its value then.
func (b *bucket) create(ctx context.Context, key string, value []byte) ([]byte, error) {
	return b.write(ctx, key, value, true)
}

// write writes a key, unless it is there and keep is set, and returns its value then. It tries until the
// value is known, NATS refuses it, or ctx ends.
func (b *bucket) write(ctx context.Context, key string, value []byte, keep bool) ([]byte, error) {
	var failed error // of the last attempt
	for {
		m, err := b.last(ctx, key)
		switch {
		case err != nil && ctx.Err() != nil && failed != nil:
			return nil, failed
		case err != nil:
			return nil, err
		case keep && len(m.Data) > 0:
			return m.Data, nil
		}
		_, failed = b.put(ctx, key, value, m.Sequence)
		switch {
		case failed == nil:
			return value, nil
		case !errors.Is(failed, errRevision) && !unanswered(failed):
			return nil, failed
		}
		// Another node was faster, or the answer is missing: the key's value tells.
		select {
		case <-time.After(writeRest):
		case <-ctx.Done():
			return nil, failed
		}
	}
}

// writeRest is between two attempts to write.
const writeRest = 100 * time.Millisecond

// Documents seals documents with the cluster's secret, and stores those that all nodes share. It is safe
// for concurrent use.
type Documents struct {
	bucket  *bucket
	cluster string
	sealer  cipher.AEAD
}

// Create stores a document that all nodes share, such as the key of the hub's pairings, unless one with
// the name is there, and returns the stored one. Names consist of letters, digits and dashes.
func (d *Documents) Create(ctx context.Context, name string, doc []byte) ([]byte, error) {
	sealed, err := d.bucket.create(ctx, "doc."+name, d.Seal("", name, doc))
	if err != nil {
		return nil, err
	}
	return d.Open("", name, sealed)
}

// Replace stores a document that all nodes share, in place of any other. Of two at once, one wins.
func (d *Documents) Replace(ctx context.Context, name string, doc []byte) error {
	_, err := d.bucket.write(ctx, "doc."+name, d.Seal("", name, doc), false)
	return err
}

// Follow calls f with a document that all nodes share, and again after each Replace, one call at a time.
// It blocks until ctx ends.
func (d *Documents) Follow(ctx context.Context, name string, f func(doc []byte)) error {
	c, err := d.bucket.js.OrderedConsumer(ctx, d.bucket.stream.CachedInfo().Config.Name, jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{d.bucket.subject("doc." + name)},
		DeliverPolicy:  jetstream.DeliverLastPerSubjectPolicy,
	})
	if err != nil {
		return err
	}
	following, err := c.Consume(func(m jetstream.Msg) {
		if doc, err := d.Open("", name, m.Data()); err == nil {
			f(doc)
		}
	})
	if err != nil {
		return err
	}
	<-ctx.Done()
	following.Stop()
	<-following.Closed()
	return context.Cause(ctx)
}

// Seal encrypts a document of a user ("": of the cluster). The result may be stored anywhere: only nodes
// of the cluster can open it, and only as that user's document with that name.
func (d *Documents) Seal(user spec.UserID, name string, doc []byte) []byte {
	return d.sealer.Seal(nil, nil, doc, d.place(user, name))
}

// Open is the inverse of Seal.
func (d *Documents) Open(user spec.UserID, name string, sealed []byte) ([]byte, error) {
	doc, err := d.sealer.Open(nil, nil, sealed, d.place(user, name))
	if err != nil {
		return nil, fmt.Errorf("document %s: it has been damaged, or sealed with another secret", name)
	}
	return doc, nil
}

func (d *Documents) place(user spec.UserID, name string) []byte {
	b, err := json.Marshal([]string{d.cluster, string(user), name})
	if err != nil {
		panic(err) // strings
	}
	return b
}
