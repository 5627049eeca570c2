/** Tests that no process connects to a socket only because a message names it: all sockets are in the run directory. */
import { once } from "node:events";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { type ActorMesh, type Codec, codec, thisHost } from "viceroy";
import { expect, test } from "vitest";
import { forge } from "../forged.js";
import { loadCrew } from "./crew.js";

test.each(["process", "thread", "inline"] as const)(
  "isolation %s: the address of a forged mesh is not dialled",
  async (isolation) => {
    const { SteelWorker } = await loadCrew();
    const { descriptor } = SteelWorker;
    let connections = 0;
    const attacker = createServer((socket) => {
      connections++;
      socket.destroy();
    });
    const socket = path.join(tmpdir(), `evil-${isolation}-${process.pid}.sock`);
    await once(attacker.listen(socket), "listening");
    const bytes = forge("Mesh", { proc: 0x1234n, location: `unix:${socket}`, actor: descriptor.key });
    const forged = (codec.mesh(() => descriptor) as Codec<ActorMesh>).decode(bytes) as never as typeof workers;

    const procs = thisHost().spawnProcs({}, { isolation });
    const workers = procs.spawn("workers", SteelWorker);
    // First an actor uses the forged mesh, then the driver.
    await expect(workers.order.callOne(forged, "hello")).rejects.toThrow("its process cannot be reached");
    await expect(forged.echo.callOne("hello")).rejects.toThrow("its process cannot be reached");
    expect(connections).toBe(0);

    await procs.stop();
    attacker.close();
  },
);
