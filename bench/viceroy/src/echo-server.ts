import { setTimeout as delay } from "node:timers/promises";
import type { BenchRecord, Done } from "../generated/echo.js";
import { EchoActor } from "../generated/echo.js";

export class EchoServer extends EchoActor {
  echo(record: BenchRecord): BenchRecord {
    return record;
  }

  touch(record: BenchRecord): Done {
    return { id: record.id, ok: true };
  }

  push(data: Uint8Array): number {
    return data.length;
  }

  back(data: Uint8Array): Uint8Array {
    return data;
  }

  fail(): void {
    throw new Error("failed on request");
  }

  pid(): number {
    return process.pid;
  }

  same(n: number): number {
    return n;
  }

  one(): number {
    return 1;
  }

  async sleep(milliseconds: number): Promise<void> {
    await delay(milliseconds);
  }
}
