/** Files of the kind that kubectl and its libraries read. */
import { writeFileSync } from "node:fs";
import { stringify } from "yaml";

export interface Access {
  readonly server: string;
  /** The certificate of the server's authority, in PEM. */
  readonly ca: string;
  readonly token: string;
  readonly namespace?: string;
}

export function writeKubeconfig(file: string, { server, ca, token, namespace = "default" }: Access): void {
  const cluster = { server, "certificate-authority-data": Buffer.from(ca).toString("base64") };
  const content = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "lab", cluster }],
    users: [{ name: "user", user: { token } }],
    contexts: [{ name: "lab", context: { cluster: "lab", user: "user", namespace } }],
    "current-context": "lab",
  };
  writeFileSync(file, stringify(content), { mode: 0o600 });
}
