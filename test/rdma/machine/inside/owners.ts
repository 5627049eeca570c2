/** Starts owners in separate processes, for tests in the virtual machine. */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { MemoryHandle } from "../../../../runtime/rdma/grant/memory-handle.js";
import type { Command, Question, Reply } from "./owner.js";

const program = fileURLToPath(new URL("owner.js", import.meta.url));

export class Owner implements Disposable {
  readonly child: ChildProcess;
  readonly #waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  #last = 0;

  /** @param device the RDMA device of the owner */
  constructor(device: string) {
    const env = { ...process.env, VICEROY_TEST_OWNER: "1", VICEROY_RDMA_DEVICE: device };
    this.child = fork(program, [], { env, serialization: "advanced" });
    this.child.on("message", ({ id, value, error }: Reply) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) waiting?.resolve(value);
      else waiting?.reject(new Error(error));
    });
    this.child.once("exit", () => {
      for (const { reject } of this.#waiting.values()) reject(new Error("the owner has ended"));
      this.#waiting.clear();
    });
  }

  tell(command: Command): Promise<unknown> {
    const { exitCode, signalCode } = this.child;
    if (exitCode !== null || signalCode !== null) return Promise.reject(new Error("the owner has ended"));
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.child.send({ id, command } satisfies Question);
    });
  }

  async grant(length: number, access: "r" | "rw"): Promise<MemoryHandle> {
    return (await this.tell({ kind: "grant", length, access })) as MemoryHandle;
  }

  /** Sends the request of a backend to the owner, as `AskOwner`. */
  readonly ask = async (request: Uint8Array): Promise<Uint8Array> =>
    (await this.tell({ kind: "answer", request })) as Uint8Array;

  [Symbol.dispose](): void {
    this.child.kill("SIGKILL");
  }
}
