//go:build unix && !linux

package multipart

// CreateTemp implements FileSystem: the file loses its name at once.
func (systemFiles) CreateTemp(dir string) (TempFile, error) { return createUnlinked(dir) }
