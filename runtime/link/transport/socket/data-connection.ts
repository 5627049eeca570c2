/**
 * Data connections: those that a driver makes to a driver gateway beside a tunnel, one for each connection that it wants through the
 * gateway. They begin with a ticket, which the tunnel has announced, and what follows is for the peer behind the gateway. A
 * listener tells them from other connections by their first bytes, with and without TLS.
 */
import type { Socket } from "node:net";
import type { PausablePipe } from "../pipe.js";
import type { HalfOpenConnections } from "./half-open.js";
import { socketPipe } from "./pipe.js";
import { tuneSocket } from "./socket.js";

/** The first bytes of a data connection: "VCRD". Neither TLS nor the handshake of links begins so. */
const magic = Buffer.from("VCRD", "latin1");

export const TICKET_BYTES = 32;

const OPENING_BYTES = magic.length + TICKET_BYTES;

/**
 * Takes a data connection.
 * @param ticket the ticket that it begins with; nobody has checked it
 * @param admitted to be called when the limits on the connection end, because its ticket is known
 */
export type TakeDataConnection = (ticket: Uint8Array, pipe: PausablePipe, admitted: () => void) => void;

/** Returns the bytes with which a data connection begins. */
export function openingOf(ticket: Uint8Array): Uint8Array {
  return Buffer.concat([magic, ticket]);
}

/**
 * Reads the first bytes of an accepted connection, and passes it on.
 * @param halfOpen the connections that have not shown what they are, to which this one belongs
 * @param other gets a connection that is none for data, and the bytes that were read from it
 */
export function sortConnection(
  socket: Socket,
  halfOpen: HalfOpenConnections,
  data: TakeDataConnection,
  other: (socket: Socket, seen: Buffer) => void,
): void {
  let seen: Buffer = Buffer.alloc(0);
  // A peer that leaves before it has said anything was not refused.
  const left = () => socket.destroy();
  const read = () => {
    const more: Buffer | null = socket.read();
    if (more !== null) seen = Buffer.concat([seen, more]);
    const isData = beginsWithMagic(seen);
    if (isData && seen.length < OPENING_BYTES) return;
    socket.off("readable", read).off("end", left);
    if (!isData) {
      other(socket, seen);
      return;
    }
    const rest = seen.subarray(OPENING_BYTES);
    data(seen.subarray(magic.length, OPENING_BYTES), socketPipe(tuneSocket(socket), rest), () =>
      halfOpen.delete(socket),
    );
  };
  socket.on("error", () => {});
  socket.once("end", left);
  socket.on("readable", read);
}

/** Returns whether bytes begin as a data connection does, as far as they have come. */
function beginsWithMagic(bytes: Buffer): boolean {
  const length = Math.min(bytes.length, magic.length);
  return bytes.compare(magic, 0, length, 0, length) === 0;
}
