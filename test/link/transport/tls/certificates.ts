/** Certificates for tests, made by openssl when they are needed: an authority, and what it has signed. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TlsFiles } from "../../../../runtime/link/transport/tls/credentials.js";

const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];

export class Authority {
  readonly folder = mkdtempSync(path.join(tmpdir(), "viceroy-ca-"));
  #issued = 0;

  constructor() {
    const files = ["-keyout", this.#at("ca.key"), "-out", this.#at("ca.pem")];
    this.#openssl("req", "-x509", ...key, ...files, "-days", "2", "-subj", "/CN=test authority");
  }

  /**
   * Makes a key and a certificate, in files of their own: a process may still read those of another one of the same name.
   * @param days until it expires; negative: it has
   */
  issue(name: string, days = 1, alternativeNames = "DNS:localhost,IP:127.0.0.1"): TlsFiles {
    const file = this.#at(`${name}-${this.#issued++}`);
    const [request, own, cert] = [`${file}.csr`, `${file}.key`, `${file}.pem`];
    const subject = ["-subj", `/CN=${name}`, "-addext", `subjectAltName=${alternativeNames}`];
    this.#openssl("req", ...key, "-keyout", own, "-out", request, ...subject);
    const signed = ["-CA", this.#at("ca.pem"), "-CAkey", this.#at("ca.key"), "-CAcreateserial"];
    this.#openssl(
      "x509",
      "-req",
      "-in",
      request,
      ...signed,
      "-days",
      `${days}`,
      "-copy_extensions",
      "copy",
      "-out",
      cert,
    );
    return { cert, key: own, ca: this.#at("ca.pem") };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #at(file: string): string {
    return path.join(this.folder, file);
  }

  #openssl(...args: string[]): void {
    execFileSync("openssl", args, { stdio: ["ignore", "ignore", "pipe"] });
  }
}
