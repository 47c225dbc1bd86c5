package files

import (
	"io"
	"mime"
	nethttp "net/http"
	"os"
	"path"
	"strings"
)

// mediaTypes are types that should not depend on what tables a machine has.
var mediaTypes = map[string]string{
	".css":   "text/css; charset=utf-8",
	".csv":   "text/csv; charset=utf-8",
	".gif":   "image/gif",
	".go":    "text/plain; charset=utf-8",
	".gz":    "application/gzip",
	".htm":   "text/html; charset=utf-8",
	".html":  "text/html; charset=utf-8",
	".ico":   "image/x-icon",
	".jpeg":  "image/jpeg",
	".jpg":   "image/jpeg",
	".js":    "text/javascript; charset=utf-8",
	".json":  "application/json",
	".log":   "text/plain; charset=utf-8",
	".md":    "text/markdown; charset=utf-8",
	".mjs":   "text/javascript; charset=utf-8",
	".mod":   "text/plain; charset=utf-8",
	".mp3":   "audio/mpeg",
	".mp4":   "video/mp4",
	".pdf":   "application/pdf",
	".png":   "image/png",
	".sum":   "text/plain; charset=utf-8",
	".svg":   "image/svg+xml",
	".txt":   "text/plain; charset=utf-8",
	".wasm":  "application/wasm",
	".webm":  "video/webm",
	".webp":  "image/webp",
	".woff2": "font/woff2",
	".xml":   "text/xml; charset=utf-8",
	".zip":   "application/zip",
}

// sniffed is how many bytes are looked at where the name says nothing.
const sniffed = 512

// mediaType returns the type of a file, by its name or else by its first bytes.
func mediaType(name string, f *os.File) string {
	ext := strings.ToLower(path.Ext(name))
	if t, ok := mediaTypes[ext]; ok {
		return t
	}
	if t := mime.TypeByExtension(ext); t != "" {
		return t
	}
	var head [sniffed]byte
	n, err := f.ReadAt(head[:], 0)
	if err != nil && err != io.EOF {
		return "application/octet-stream"
	}
	return nethttp.DetectContentType(head[:n])
}
