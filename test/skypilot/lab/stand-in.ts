/** Answers requests as the real API server of SkyPilot has answered them when a recording was made. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Connected } from "./connected.js";
import { type Exchanged, requestKey } from "./recording.js";

/** @param exchanged the recording. Equal requests get their answers in the order in which they were recorded, and then the last one again */
export async function startStandIn(exchanged: readonly Exchanged[]): Promise<Connected> {
  const answers = new Map<string, Exchanged[]>();
  for (const each of exchanged) answers.set(each.request, [...(answers.get(each.request) ?? []), each]);
  const server: Server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const key = requestKey(request.method!, request.url!, Buffer.concat(parts).toString());
      const known = answers.get(key);
      if (known === undefined) {
        response.writeHead(599).end(JSON.stringify({ detail: `the recording has no request ${key}` }));
        return;
      }
      const { answer } = known.length > 1 ? known.shift()! : known[0]!;
      if (answer === null) {
        request.socket.destroy();
        return;
      }
      const body = answer.body.join("\n");
      response.writeHead(answer.status, answer.headers);
      if (answer.isCut === undefined) response.end(body);
      else response.write(body, () => request.socket.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
