/** Passes requests on to the real API server of SkyPilot, and writes down what it answers. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Connected } from "./connected.js";
import { type Exchanged, keptAnswer, requestKey } from "./recording.js";

export interface Recorder extends Connected {
  /** What was answered, in the order of the requests. */
  readonly exchanged: readonly Exchanged[];
}

/**
 * @param target the URL of the real server
 * @param folders folders of this machine, which recordings do not name
 */
export async function startRecorder(target: string, folders: readonly string[]): Promise<Recorder> {
  const exchanged: Exchanged[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const body = Buffer.concat(parts).toString();
      const index = exchanged.push({ request: requestKey(request.method!, request.url!, body), answer: null }) - 1;
      passOn({ target, folders }, request, body, response).then(
        (answer) => {
          exchanged[index] = { ...exchanged[index]!, answer };
        },
        () => {
          request.socket.destroy();
          const before = exchanged[index - 1];
          // The client asks a server that is away again and again.
          if (before?.answer === null && before.request === exchanged[index]!.request) exchanged.splice(index, 1);
        },
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    exchanged,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Target {
  readonly target: string;
  readonly folders: readonly string[];
}

async function passOn({ target, folders }: Target, request: IncomingMessage, body: string, response: ServerResponse) {
  const { host: _host, connection: _connection, "content-length": _length, ...headers } = request.headers;
  const answer = await fetch(target + request.url, {
    method: request.method!,
    headers: headers as Record<string, string>,
    redirect: "manual",
    ...(body === "" ? {} : { body }),
  });
  const own = [...answer.headers].filter(([name]) => name.startsWith("x-skypilot-") || name === "location");
  response.writeHead(answer.status, Object.fromEntries(own));
  // The reader of a stream knows at once that it is open.
  response.flushHeaders();
  const read: Uint8Array[] = [];
  const text = () =>
    folders.reduce((text, folder) => text.replaceAll(folder, "/folder"), Buffer.concat(read).toString());
  try {
    for await (const part of answer.body as unknown as AsyncIterable<Uint8Array>) {
      read.push(part);
      response.write(part);
    }
  } catch {
    request.socket.destroy();
    return keptAnswer(answer.status, answer.headers, text(), true);
  }
  response.end();
  return keptAnswer(answer.status, answer.headers, text(), false);
}
