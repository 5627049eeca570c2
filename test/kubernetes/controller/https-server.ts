/** An HTTPS server of the controller, and the folder with what programs prove themselves and it with. */
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";
import { Authority } from "../../../runtime/job/credentials/authority.js";
import { createKeyPair } from "../../../runtime/job/credentials/credential-files.js";
import { serverCertificate } from "../../../runtime/job/kubernetes/controller/own-certificate.js";
import {
  type ControllerAccess,
  ControllerClient,
} from "../../../runtime/job/kubernetes/provision/controller-client.js";

export const authority = Authority.create("viceroy-controller");

/** Returns a certificate of the same authority for a host. */
export function hostCertificate(): { readonly key: string; readonly cert: string } {
  const { privateKey, publicKey } = createKeyPair();
  const identity = { job: authority.job, role: "host", mesh: "a", rank: 0 } as const;
  return { key: privateKey, cert: authority.issue(publicKey, identity, { validFor: 60_000 }) };
}

/** Returns a client of a controller, until the end of the test. @param files the files of its folder, which replace those of a pod */
export function clientOf(
  url: string,
  files: Readonly<Record<string, string>> = { token: "t", "authority.pem": authority.certificate },
  silence?: ConstructorParameters<typeof ControllerClient>[1],
): { readonly client: ControllerClient; readonly access: ControllerAccess } {
  const folder = mkdtempSync(path.join(tmpdir(), "vk-"));
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
  const access = { url, folder };
  const client = new ControllerClient(access, silence);
  onTestFinished(() => client.close());
  return { client, access };
}

/** Lets a server listen until the end of the test. @returns its URL */
export async function listening(server: Server): Promise<string> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Starts a server that answers as the test says. */
export function scripted(listener: RequestListener, certificate = serverCertificate(authority)): Promise<string> {
  return listening(createServer({ ...certificate, minVersion: "TLSv1.3" }, listener));
}
