// Package testcert has a certificate for tests of what is encrypted: for the name "test", signed
// by itself, and made anew by each process.
package testcert

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"sync"
	"time"
)

// Certificate returns it with its key, an *ecdsa.PrivateKey. Any goroutine may call it.
var Certificate = sync.OnceValue(func() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().AddDate(1, 0, 0), DNSNames: []string{"test"},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		panic(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
})

// Server returns a configuration that has the certificate, and is the caller's to change.
func Server() *tls.Config { return &tls.Config{Certificates: []tls.Certificate{Certificate()}} }

// Client returns a configuration that trusts it, and is the caller's to change.
func Client() *tls.Config {
	roots := x509.NewCertPool()
	roots.AddCert(Certificate().Leaf)
	return &tls.Config{RootCAs: roots, ServerName: "test"}
}
