/** A lab as the process sees it that holds it. */
import { createServer, type Server } from "node:http";
import { text } from "node:stream/consumers";
import type { LabCommand, LabDescription } from "./remote-lab.js";

export interface HeldLab {
  readonly description: Omit<LabDescription, "socket">;
  /** The command prefix of the machine on which tests run. */
  readonly through: readonly string[];
  readonly commands: Readonly<Record<LabCommand["call"], (...args: readonly string[]) => Promise<void>>>;
}

/** Executes commands of other processes, which come through a socket. @returns the server, which listens */
export async function serveCommands({ commands }: HeldLab, socket: string): Promise<Server> {
  const server = createServer(async (request, response) => {
    try {
      const { call, args } = JSON.parse(await text(request)) as LabCommand;
      await commands[call](...args);
      response.writeHead(200).end();
    } catch (error) {
      response.writeHead(500).end((error as Error).message);
    }
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  return server;
}
