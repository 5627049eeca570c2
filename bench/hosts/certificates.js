/** Makes a certificate authority, and one certificate for both sides, with openssl. */
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import path from "node:path";

/** @returns {{ cert: string, key: string, ca: string }} files */
export function makeCertificates(folder, address) {
  mkdirSync(folder, { recursive: true });
  const at = (name) => path.join(folder, name);
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  openssl("req", "-x509", ...newKey, "-keyout", at("ca.key"), "-out", at("ca.pem"), "-days", "2", "-subj", "/CN=bench");
  const names = ["-subj", "/CN=bench host", "-addext", `subjectAltName=IP:${address}`];
  openssl("req", ...newKey, "-keyout", at("host.key"), "-out", at("host.csr"), ...names);
  const by = ["-CA", at("ca.pem"), "-CAkey", at("ca.key"), "-CAcreateserial", "-copy_extensions", "copy"];
  openssl("x509", "-req", "-in", at("host.csr"), ...by, "-days", "1", "-out", at("host.pem"));
  return { cert: at("host.pem"), key: at("host.key"), ca: at("ca.pem") };
}

function openssl(...args) {
  execFileSync("openssl", args, { stdio: ["ignore", "ignore", "pipe"] });
}
