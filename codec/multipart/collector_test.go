package multipart

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"mime/multipart"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/iotest"

	"millrace.dev/buffer"
)

// faultyFiles makes temporary files of the system's, and counts those that are open. It
// fails as it is told.
type faultyFiles struct {
	open, made    atomic.Int64
	room          int64 // bytes that may be written to all files; negative: without limit
	create, write error
}

func (f *faultyFiles) CreateTemp(dir string) (TempFile, error) {
	if f.create != nil {
		return nil, f.create
	}
	t, err := systemFiles{}.CreateTemp(dir)
	if err == nil {
		f.open.Add(1)
		f.made.Add(1)
	}
	return &faultyFile{t, f}, err
}

type faultyFile struct {
	TempFile
	fs *faultyFiles
}

func (f *faultyFile) Write(p []byte) (int, error) {
	if f.fs.room >= 0 {
		if f.fs.room < int64(len(p)) {
			return 0, &fs.PathError{Op: "write", Path: "disk", Err: f.fs.write}
		}
		f.fs.room -= int64(len(p))
	}
	return f.TempFile.Write(p)
}

func (f *faultyFile) Close() error {
	f.fs.open.Add(-1)
	return f.TempFile.Close()
}

// checkEmpty checks that nothing is in a directory, nor open.
func checkEmpty(t *testing.T, dir string, f *faultyFiles) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 0 || f.open.Load() != 0 {
		t.Fatalf("left: %v %v, %d open", entries, err, f.open.Load())
	}
}

var kinds = []StorageKind{Mixed, Memory, Disk}

const contentType = "multipart/form-data; boundary=b"

// body is a form with a field, and files of the contents.
func body(contents ...string) string {
	var all []string
	all = append(all, "--b", field("a"), "1")
	for _, c := range contents {
		all = append(all, "--b", `Content-Disposition: form-data; name="f"; filename="dir/x.txt"`, "Content-Type: text/plain", "X: y", "", c)
	}
	return lines(append(all, "--b--")...)
}

func TestCollectorStorage(t *testing.T) {
	t.Parallel()
	contents := []string{"", "hello", strings.Repeat("0123456789", 3000), strings.Repeat("x", 7000)}
	for _, kind := range kinds {
		for _, size := range []int{1, 1000, 20_000, 1 << 20} {
			dir, files := t.TempDir(), &faultyFiles{room: -1}
			c, err := NewCollector(contentType, FormOptions{Storage: Storage{Kind: kind, Dir: dir, Threshold: 25_000, FileSystem: files}})
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range pieces(body(contents...), size) {
				b := buffer.CopyString(p)
				if err := c.Decode(b); err != nil {
					t.Fatal(err)
				}
				b.Close()
			}
			form, err := c.Finish()
			if err != nil {
				t.Fatal(err)
			}
			checkForm(t, form, contents)
			if made, want := files.made.Load(), map[StorageKind]int64{Mixed: 1, Memory: 0, Disk: 4}[kind]; made != want {
				t.Errorf("%v: %d temporary files, want %d", kind, made, want)
			}
			if err := form.Close(); err != nil {
				t.Error(err)
			}
			checkEmpty(t, dir, files)
			if _, err := form.File("f").Open().Read(make([]byte, 1)); err != ErrFileClosed && err != io.EOF {
				t.Error(err)
			}
			if err := form.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// checkForm checks the form of body.
func checkForm(t *testing.T, form *Form, contents []string) {
	t.Helper()
	if form.Value("a") != "1" || form.Value("f") != "" || !slices.Equal(form.Values("a"), []string{"1"}) || form.File("a") != nil {
		t.Fatalf("%+v", form.Entries)
	}
	if len(form.Entries) != 1+len(contents) {
		t.Fatalf("%d entries", len(form.Entries))
	}
	for i, want := range contents {
		e := form.Entries[i+1]
		f := e.File
		if e.Name != "f" || e.ContentType != "text/plain" || f.FileName != "dir/x.txt" || f.Header.Get("X") != "y" {
			t.Fatalf("%+v", e)
		}
		if f.Size() != int64(len(want)) {
			t.Errorf("a size of %d, want %d", f.Size(), len(want))
		}
		var r multipart.File = f.Open()
		if err := iotest.TestReader(r, []byte(want)); err != nil {
			t.Error(err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if n, err := f.ReadAt(make([]byte, 10), int64(len(want))); n != 0 || err != io.EOF {
			t.Error("behind the end:", n, err)
		}
		if _, err := f.ReadAt(make([]byte, 10), -1); err == nil || err == io.EOF {
			t.Error("before the beginning:", err)
		}
	}
}

// Whatever ends a form early, nothing is left of it: at each byte, by each way.
func TestCollectorGivesUp(t *testing.T) {
	t.Parallel()
	dir, files := t.TempDir(), &faultyFiles{room: -1}
	whole := body("hello", "world")
	for _, kind := range kinds {
		o := FormOptions{
			Limits:  Limits{MaxTotal: 2000},
			Storage: Storage{Kind: kind, Dir: dir, Threshold: 2, FileSystem: files},
		}
		for i := range whole {
			c, err := NewCollector(contentType, o)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Write([]byte(whole[:i])); err != nil {
				t.Fatal(err)
			}
			switch i % 3 {
			case 0:
				c.Close()
				c.Close()
			case 1:
				if form, err := c.Finish(); form != nil || err == nil {
					// The last two dashes end the form, and only they.
					t.Fatalf("a form of %d bytes: %v", i, err)
				}
			case 2:
				if _, err := c.Write(make([]byte, 2000)); err != ErrTooLarge {
					t.Fatalf("too much after %d bytes: %v", i, err)
				}
			}
			if _, err := c.Write([]byte("x")); err == nil {
				t.Fatal("a closed Collector takes more")
			}
			checkEmpty(t, dir, files)
		}
	}
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	rows := []struct {
		files  *faultyFiles
		status int
	}{
		{&faultyFiles{write: syscall.ENOSPC}, 507},
		{&faultyFiles{room: 100_000, write: syscall.ENOSPC}, 507},
		{&faultyFiles{room: 100_000, write: syscall.EDQUOT}, 507},
		{&faultyFiles{room: 100_000, write: syscall.EIO}, 500},
		{&faultyFiles{create: syscall.ENOSPC}, 507},
		{&faultyFiles{create: syscall.EMFILE}, 500},
	}
	for _, r := range rows {
		for _, kind := range []StorageKind{Mixed, Disk} {
			for _, size := range []int{1000, 30_000} {
				dir := t.TempDir()
				files := &faultyFiles{room: r.files.room, create: r.files.create, write: r.files.write}
				c, err := NewCollector(contentType, FormOptions{Storage: Storage{Kind: kind, Dir: dir, FileSystem: files}})
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range pieces(body("small", strings.Repeat("x", 200_000)), size) {
					if _, err = c.Write([]byte(p)); err != nil {
						break
					}
				}
				if err == nil {
					_, err = c.Finish()
				}
				var s *StorageError
				if Status(err) != r.status || !errors.As(err, &s) {
					t.Errorf("%v: %v, status %d, want %d", kind, err, Status(err), r.status)
				}
				checkEmpty(t, dir, files)
			}
		}
	}
}

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	form := func(kind StorageKind, max int64, files *faultyFiles) (*Form, error) {
		return ReadForm(strings.NewReader(body("12345", "67890")), contentType,
			FormOptions{Storage: Storage{Kind: kind, MaxMemory: max, FileSystem: files}})
	}
	if _, err := form(Memory, 9, nil); err != ErrMemoryFull {
		t.Error(err)
	}
	for _, max := range []int64{4, 9, 10} {
		files := &faultyFiles{room: -1}
		f, err := form(Mixed, max, files)
		if err != nil {
			t.Fatal(err)
		}
		if made, want := files.made.Load(), 2-max/5; made != want {
			t.Errorf("%d files on disk with %d bytes of memory, want %d", made, max, want)
		}
		checkForm(t, f, []string{"12345", "67890"})
		f.Close()
	}
}

func TestSaveAs(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		dir := t.TempDir()
		form, err := ReadForm(strings.NewReader(body("hello")), contentType, FormOptions{Storage: Storage{Kind: kind, Dir: dir}})
		if err != nil {
			t.Fatal(err)
		}
		f := form.File("f")
		first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
		for _, path := range []string{first, second} {
			if err := f.SaveAs(path); err != nil {
				t.Fatal(err)
			}
			if err := f.SaveAs(path); !errors.Is(err, fs.ErrExist) {
				t.Error("replaced a file:", err)
			}
		}
		if err := f.SaveAs(filepath.Join(dir, "no", "such")); err == nil {
			t.Error("saved into a directory that isn't there")
		}
		form.Close()
		if err := f.SaveAs(filepath.Join(dir, "late")); err != ErrFileClosed {
			t.Error(err)
		}
		if err := os.WriteFile(second, []byte("changed"), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(first)
		if err != nil || string(got) != "hello" {
			t.Errorf("%v: %q %v", kind, got, err)
		}
		if i, err := os.Stat(first); err != nil || i.Mode().Perm() != 0o600 {
			t.Error(i.Mode(), err)
		}
	}
}

// The content that a Form has is its own: what it was decoded from may be overwritten.
func TestNothingIsKeptOfTheInput(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		c, err := NewCollector(contentType, FormOptions{Storage: Storage{Kind: kind}})
		if err != nil {
			t.Fatal(err)
		}
		b := buffer.CopyString(body("hello"))
		view := b.Bytes()
		if err := c.Decode(b); err != nil {
			t.Fatal(err)
		}
		clear(view)
		b.Close()
		form, err := c.Finish()
		if err != nil {
			t.Fatal(err)
		}
		checkForm(t, form, []string{"hello"})
		form.Close()
	}
}

func TestReadFormErrors(t *testing.T) {
	t.Parallel()
	dir, files := t.TempDir(), &faultyFiles{room: -1}
	o := FormOptions{Storage: Storage{Kind: Disk, Dir: dir, FileSystem: files}}
	lost := errors.New("lost")
	r := io.MultiReader(strings.NewReader(body("hello")[:150]), iotest.ErrReader(lost))
	if _, err := ReadForm(r, contentType, o); err != lost {
		t.Error(err)
	}
	if _, err := ReadForm(strings.NewReader("--bx"), contentType, o); err != ErrDelimiter {
		t.Error(err)
	}
	if _, err := ReadForm(r, "text/plain", o); err != ErrContentType {
		t.Error(err)
	}
	checkEmpty(t, dir, files)
}

func TestURLEncoded(t *testing.T) {
	t.Parallel()
	const urlencoded = "Application/X-WWW-Form-Urlencoded; charset=utf-8"
	in := "a=1&b=x+y%21&&a=%E2%82%AC&c&=d&e=%zz"
	want := []Entry{{Name: "a", Value: "1"}, {Name: "b", Value: "x y!"}, {Name: "a", Value: "€"}, {Name: "c"}, {Value: "d"}, {Name: "e", Value: "%zz"}}
	for _, n := range []int{1, 2, 1000} {
		form, err := ReadForm(&pieceReader{pieces(in, n)}, urlencoded, FormOptions{})
		if err != nil || !slices.Equal(form.Entries, want) {
			t.Fatalf("%+v %v", form, err)
		}
	}
	for _, r := range []struct {
		l   Limits
		in  string
		err error
	}{
		{Limits{MaxParts: 2}, "a&b&c", ErrTooManyFields},
		{Limits{MaxFields: 2}, "a&b&c", ErrTooManyFields},
		{Limits{MaxName: 2}, "abc=1", ErrNameTooLong},
		{Limits{MaxField: 2}, "a=123", ErrFieldTooLarge},
		{Limits{MaxTotal: 4}, "a=123", ErrTooLarge},
		{Limits{MaxFieldBytes: 4}, "a=1&b=12", ErrFieldsTooLarge},
	} {
		if _, err := ReadForm(strings.NewReader(r.in), urlencoded, FormOptions{Limits: r.l}); err != r.err {
			t.Errorf("%s: %v, want %v", r.in, err, r.err)
		}
		r.l = Limits{}
		if _, err := ReadForm(strings.NewReader(r.in), urlencoded, FormOptions{Limits: r.l}); err != nil {
			t.Errorf("%s: %v", r.in, err)
		}
	}
	if !IsForm(urlencoded) || !IsForm("multipart/form-data") || IsForm("text/plain") {
		t.Error("IsForm")
	}
}

// pieceReader gives a piece at each Read.
type pieceReader struct{ pieces []string }

func (r *pieceReader) Read(p []byte) (int, error) {
	if len(r.pieces) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.pieces[0])
	r.pieces = r.pieces[1:]
	return n, nil
}

// In all kinds of storage, a form is what mime/multipart makes of it.
func TestFormIsTheStandardLibrarys(t *testing.T) {
	t.Parallel()
	contents := []string{"", "hello", strings.Repeat("0123456789\r\n", 10_000)}
	std, err := multipart.NewReader(strings.NewReader(body(contents...)), "b").ReadForm(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range kinds {
		form, err := ReadForm(strings.NewReader(body(contents...)), contentType, FormOptions{Storage: Storage{Kind: kind}})
		if err != nil {
			t.Fatal(err)
		}
		for i, h := range std.File["f"] {
			f, err := h.Open()
			if err != nil {
				t.Fatal(err)
			}
			want, _ := io.ReadAll(f)
			got, _ := io.ReadAll(form.Entries[i+1].File.Open())
			if !bytes.Equal(got, want) || h.Size != form.Entries[i+1].File.Size() || h.Filename != BaseName(form.Entries[i+1].File.FileName) {
				t.Errorf("file %d differs", i)
			}
			f.Close()
		}
		form.Close()
	}
}

func TestMayBlock(t *testing.T) {
	t.Parallel()
	const urlencoded = "application/x-www-form-urlencoded"
	for _, r := range []struct {
		s           Storage
		contentType string
		length      int64
		want        bool
	}{
		{Storage{}, contentType, DefaultThreshold, false},
		{Storage{}, contentType, DefaultThreshold + 1, true},
		{Storage{}, contentType, -1, true},
		{Storage{}, urlencoded, -1, false},
		{Storage{MaxMemory: 10}, contentType, 11, true},
		{Storage{Kind: Memory}, contentType, -1, false},
		{Storage{Kind: Disk}, contentType, 0, true},
		{Storage{Kind: Disk}, urlencoded, 0, false},
	} {
		if got := (FormOptions{Storage: r.s}).MayBlock(r.contentType, r.length); got != r.want {
			t.Errorf("%+v: %t", r, got)
		}
	}
}
