/** A registry of npm on the loopback interface, with packages that are made of files or are packed from folders. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

interface Published {
  readonly manifest: Readonly<Record<string, unknown>> & { readonly name: string; readonly version: string };
  readonly bytes: Buffer;
}

export class Registry {
  /** The paths that were asked for. */
  readonly requests: string[] = [];
  readonly #server: Server;
  readonly #packages: Published[] = [];

  private constructor() {
    this.#server = createServer((request, response) => {
      const name = decodeURIComponent(request.url ?? "").slice(1);
      this.requests.push(name);
      const tarball = this.#packages.find(({ manifest }) => name === `${manifest.name}/${manifest.version}.tgz`);
      const versions = this.#packages.filter(({ manifest }) => manifest.name === name);
      if (tarball !== undefined) return response.end(tarball.bytes);
      if (versions.length === 0) return response.writeHead(404).end("{}");
      const described = versions.map(({ manifest, bytes }) => {
        const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
        const dist = { integrity, tarball: `${this.url}/${manifest.name}/${manifest.version}.tgz` };
        return [manifest.version, { ...manifest, dist }] as const;
      });
      const latest = described.at(-1)?.[0];
      response.setHeader("content-type", "application/json");
      return response.end(JSON.stringify({ name, "dist-tags": { latest }, versions: Object.fromEntries(described) }));
    });
  }

  static async start(): Promise<Registry> {
    const registry = new Registry();
    await new Promise<void>((resolve) => registry.#server.listen(0, "127.0.0.1", resolve));
    return registry;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Publishes a package that consists of these files. */
  publish(files: Readonly<Record<string, string | Uint8Array>>): void {
    const sources = mkdtempSync(path.join(tmpdir(), "package-"));
    for (const [name, content] of Object.entries(files)) {
      const file = path.join(sources, "package", name);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, content);
    }
    const bytes = execFileSync("tar", ["-cz", "-C", sources, "package"], { maxBuffer: 2 ** 28 });
    this.#packages.push({ manifest: JSON.parse(String(files["package.json"])), bytes });
  }

  /** Publishes what npm packs of a folder. */
  publishFolder(folder: string): void {
    const to = mkdtempSync(path.join(tmpdir(), "packed-"));
    const options = ["--ignore-scripts", "--silent", `--pack-destination=${to}`];
    const name = execFileSync("npm", ["pack", ...options], { cwd: folder, encoding: "utf8" })
      .trim()
      .split("\n")
      .at(-1);
    const manifest = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as Published["manifest"];
    const { devDependencies: _, scripts: __, ...published } = manifest;
    this.#packages.push({ manifest: published as Published["manifest"], bytes: readFileSync(path.join(to, name!)) });
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
