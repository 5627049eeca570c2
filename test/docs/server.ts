/** Serves a folder of static files on loopback, as a web server would serve the documentation site. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";

export interface SiteServer {
  /** `http://127.0.0.1:<port>`. */
  readonly origin: string;
  close(): Promise<void>;
}

const types: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
  ".json": "application/json",
  // Browsers request this file even if no page names it.
  ".ico": "image/x-icon",
};

export async function serveSite(folder: string): Promise<SiteServer> {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://127.0.0.1");
    if (pathname === "/favicon.ico") return response.writeHead(204).end();
    const file = path.join(folder, decodeURIComponent(pathname.endsWith("/") ? `${pathname}index.html` : pathname));
    const type = types[path.extname(file)];
    const bytes =
      file.startsWith(folder) && type !== undefined ? await readFile(file).catch(() => undefined) : undefined;
    if (bytes === undefined) return response.writeHead(404).end();
    return response.writeHead(200, { "content-type": type, "cache-control": "max-age=3600" }).end(bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
