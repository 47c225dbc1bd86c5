package hpack

import (
	"archive/tar"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	peer "golang.org/x/net/http2/hpack"
)

// The stories of hpack-test-case are header lists of many sites, as several encoders wrote
// them. storiesVariable names the directory that holds them, or a .tar.gz of it; without it
// testdata/stories is looked for.
const storiesVariable = "MILLRACE_HPACK_STORIES"

type story struct {
	Cases []struct {
		Wire      string              `json:"wire"`
		TableSize *uint32             `json:"header_table_size"`
		Headers   []map[string]string `json:"headers"`
	} `json:"cases"`
}

func TestStories(t *testing.T) {
	t.Parallel()
	from := os.Getenv(storiesVariable)
	if from == "" {
		from = filepath.Join("testdata", "stories")
	}
	stories, err := readStories(from)
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("there are no stories; " + storiesVariable + " says where")
	}
	if err != nil || len(stories) == 0 {
		t.Fatalf("%d stories, %v", len(stories), err)
	}
	var sum storySum
	for _, name := range slices.Sorted(maps.Keys(stories)) {
		var s story
		if err := json.Unmarshal(stories[name], &s); err != nil {
			t.Fatal(name, err)
		}
		sum.decode(t, name, &s)
		sum.encode(t, name, &s)
	}
	t.Logf("%d blocks decoded as others encoded them, %d bytes; %d blocks encoded, %d bytes out of %d (%.1f%%; x/net %.1f%%)",
		sum.decoded, sum.wire, sum.encoded, sum.ours, sum.plain,
		100*float64(sum.ours)/float64(sum.plain), 100*float64(sum.peers)/float64(sum.plain))
}

type storySum struct{ decoded, wire, encoded, ours, peers, plain int }

// decode decodes the blocks of a story, cut in two.
func (sum *storySum) decode(t *testing.T, name string, s *story) {
	t.Helper()
	var d Decoder
	for i, c := range s.Cases {
		if c.TableSize != nil {
			d.SetTableSize(*c.TableSize)
		}
		if c.Wire == "" {
			continue
		}
		block, err := hex.DecodeString(c.Wire)
		if err != nil {
			t.Fatal(name, err)
		}
		var got fieldList
		cut := i * 7 % len(block)
		if err := d.Decode(block[:cut], false, &got); err != nil {
			t.Fatalf("%s, %d: %v", name, i, err)
		}
		if err := d.Decode(block[cut:], true, &got); err != nil {
			t.Fatalf("%s, %d: %v", name, i, err)
		}
		sameList(t, got, storyFields(c.Headers))
		sum.decoded++
		sum.wire += len(block)
	}
}

// encode encodes the lists of a story; both decoders read them.
func (sum *storySum) encode(t *testing.T, name string, s *story) {
	t.Helper()
	var e Encoder
	var d Decoder
	var peerGot fieldList
	peerDecoder := peer.NewDecoder(4096, func(f peer.HeaderField) { peerGot = append(peerGot, f.Name+": "+f.Value) })
	var peerBytes strings.Builder
	peerEncoder := peer.NewEncoder(&peerBytes)
	for i, c := range s.Cases {
		want := storyFields(c.Headers)
		peerGot = nil
		block := appendFields(&e, nil, want)
		sameList(t, decodeAll(t, &d, block), want)
		if _, err := peerDecoder.Write(block); err != nil || peerDecoder.Close() != nil {
			t.Fatalf("%s, %d: %v", name, i, err)
		}
		sameList(t, peerGot, want)
		for _, f := range want {
			name, value := split(f)
			if err := peerEncoder.WriteField(peer.HeaderField{Name: name, Value: value}); err != nil {
				t.Fatal(err)
			}
			sum.plain += len(name) + len(value)
		}
		sum.encoded++
		sum.ours += len(block)
	}
	sum.peers += peerBytes.Len()
}

func storyFields(headers []map[string]string) (list []string) {
	for _, h := range headers {
		for name, value := range h { // there is one
			list = append(list, name+": "+value)
		}
	}
	return list
}

func readStories(from string) (map[string][]byte, error) {
	stories := map[string][]byte{}
	if !strings.HasSuffix(from, ".tar.gz") {
		files, err := filepath.Glob(filepath.Join(from, "*", "story_*.json"))
		if err == nil && len(files) == 0 {
			err = os.ErrNotExist
		}
		for _, file := range files {
			if stories[file], err = os.ReadFile(file); err != nil {
				return nil, err
			}
		}
		return stories, err
	}
	f, err := os.Open(from)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	for r := tar.NewReader(unzipped); ; {
		h, err := r.Next()
		if err == io.EOF {
			return stories, nil
		}
		if err != nil {
			return nil, err
		}
		if ok, _ := path.Match("story_*.json", path.Base(h.Name)); ok {
			if stories[h.Name], err = io.ReadAll(r); err != nil {
				return nil, err
			}
		}
	}
}
