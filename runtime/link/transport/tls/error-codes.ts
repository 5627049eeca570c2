/** The codes of Node.js and OpenSSL that say what is wrong with the other end of a connection with TLS. */

/** The codes for answers that are not TLS. Versions of OpenSSL disagree about those that look like a record that is too long. */
export const notTlsCodes: ReadonlySet<string> = new Set([
  "ERR_SSL_WRONG_VERSION_NUMBER",
  "ERR_SSL_PACKET_LENGTH_TOO_LONG",
  "ERR_SSL_DATA_LENGTH_TOO_LONG",
  "ERR_SSL_HTTP_REQUEST",
]);

/** Matches the codes for certificates that are not trusted, such as `CERT_HAS_EXPIRED` and `UNABLE_TO_GET_ISSUER_CERT`. */
export const untrustedCodes = /CERT|ISSUER|CRL|LEAF_SIGNATURE|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH|HOSTNAME_MISMATCH/;
