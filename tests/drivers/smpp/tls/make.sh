#!/bin/sh
# Makes the certificates beside this file anew: `sh make.sh`. They are for tests only and last for
# a hundred years; `expired.pem` and `early.pem` are what they are called.
set -eu
cd "$(dirname "$0")"
key() { openssl ecparam -name prime256v1 -genkey -noout | openssl pkcs8 -topk8 -nocrypt; }
sign() { # NAME SUBJECT EXTENSIONS FROM TO
    key > "$1.key"
    openssl req -new -key "$1.key" -subj "/CN=$2" -out "$1.csr"
    printf '%b' "$3" > "$1.ext"
    : > index.txt
    openssl ca -batch -notext -config ca.cnf -in "$1.csr" -out "$1.crt" -extfile "$1.ext" \
        -startdate "$4" -enddate "$5" 2> /dev/null
    cat "$1.crt" "$1.key" > "$1.pem"
    rm "$1.key" "$1.csr" "$1.ext" "$1.crt"
}
cat > ca.cnf <<CNF
[ca]
default_ca = this
[this]
database = index.txt
rand_serial = yes
unique_subject = no
new_certs_dir = .
certificate = ca.pem
private_key = ca.key
default_md = sha256
policy = any
[any]
commonName = supplied
CNF
authority() { # SUBJECT [EXTENSION]
    key > ca.key
    openssl req -new -key ca.key -subj "/CN=$1" -out ca.csr
    printf 'basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\n' > ca.ext
    printf 'subjectKeyIdentifier=hash\n' >> ca.ext
    echo "${2:-}" >> ca.ext
    : > index.txt
    openssl ca -batch -notext -selfsign -config ca.cnf -keyfile ca.key -in ca.csr -out ca.pem \
        -extfile ca.ext -startdate "$then" -enddate "$end" 2> /dev/null
    rm ca.csr ca.ext
}
then=20200101000000Z; end=21200101000000Z
authority "Risala test CA"
server="extendedKeyUsage=serverAuth\nsubjectAltName=DNS:localhost\n"
sign server localhost "$server" $then $end
sign expired localhost "$server" $then 20210101000000Z
sign early localhost "$server" 21190101000000Z $end
sign other smsc.example.net "extendedKeyUsage=serverAuth\nsubjectAltName=DNS:smsc.example.net\n" $then $end
sign client risala "extendedKeyUsage=clientAuth\n" $then $end
openssl pkcs8 -in client.pem -topk8 -passout pass:sesame -out locked.key
# A client whom the server has no reason to trust.
mv ca.pem ca.kept
authority "Another CA"
sign stranger risala "extendedKeyUsage=clientAuth\n" $then $end
authority localhost subjectAltName=DNS:localhost
cat ca.pem ca.key > self.pem
mv ca.kept ca.pem
rm -f ca.key ca.cnf index.txt* [0-9A-F]*.pem
