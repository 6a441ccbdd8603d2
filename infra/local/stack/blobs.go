package stack

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3bolt"
	"go.etcd.io/bbolt"

	"github.com/robotmoney/mcp/infra/local/stackfile"
)

// bucketName is what the stack calls the template's one bucket.
const bucketName = "robotmoney-local"

// blobStore starts an S3 in this process, on a file that outlives it, with the
// bucket of the template. It looks at no signature.
func (s *Stack) blobStore(context.Context) error {
	if n := len(s.template.Buckets); n != 1 {
		return fmt.Errorf("the template has %d buckets, and the stack knows the name of one", n)
	}
	// A second stack on the same folder must fail and not wait for ever.
	file, err := bbolt.Open(filepath.Join(s.path(stackfile.State), "blobs.db"), 0o600, &bbolt.Options{Timeout: 5 * time.Second})
	if err != nil {
		return fmt.Errorf("open the artifact store: %w", err)
	}
	s.closers = append(s.closers, func() { file.Close() })
	backend := s3bolt.New(file)
	there, err := backend.BucketExists(bucketName)
	if err == nil && !there {
		err = backend.CreateBucket(bucketName)
	}
	if err != nil {
		return fmt.Errorf("make the bucket: %w", err)
	}
	server := &http.Server{Handler: gofakes3.New(backend).Server(), ReadHeaderTimeout: 10 * time.Second}
	s.closers = append(s.closers, func() { server.Close() })
	go s.watch(server, s.blobs)
	return nil
}
