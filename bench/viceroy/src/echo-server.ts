import { setTimeout as delay } from "node:timers/promises";
import type { Done, Rec } from "../generated/echo.js";
import { EchoActor } from "../generated/echo.js";

export class EchoServer extends EchoActor {
  echo(record: Rec): Rec {
    return record;
  }

  touch(record: Rec): Done {
    return { id: record.id, ok: true };
  }

  push(data: Uint8Array): number {
    return data.length;
  }

  back(data: Uint8Array): Uint8Array {
    return data;
  }

  fail(): void {
    throw new Error("as it was told");
  }

  pid(): number {
    return process.pid;
  }

  one(): number {
    return 1;
  }

  async sleep(milliseconds: number): Promise<void> {
    await delay(milliseconds);
  }
}
