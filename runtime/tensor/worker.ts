/** The tensors of one process of a mesh. What executes commands is a thread of the addon's; here is what comes in and goes out. */

import { hostname } from "node:os";
import type {
  FetchedTensor,
  TakenTensor,
  TensorAddresses,
  TensorCounts,
  TensorDeskMesh,
  TensorEnd,
  TensorFailure,
  TensorKey,
  TensorValue,
} from "../../generated/tensor.js";
import { TensorWorkerActor } from "../../generated/tensor.js";
import { context } from "../index.js";
import type { NativeStream } from "../native/tensor-addon.js";
import { addon } from "./addon.js";
import { sendCopy } from "./desk.js";
import { type Brought, bring, endExchanges } from "./hub.js";
import { machine, ownAddress } from "./machine.js";
import { agreesOnNccl, offeredNccl } from "./nccl.js";
import type { Tensor } from "./tensor.js";
import { isSameType, typeText } from "./type.js";
import { localTensor, tensorValue } from "./value.js";
import { takeOver } from "./waits.js";

/** @internal */
export class StreamWorker extends TensorWorkerActor {
  readonly #mesh: bigint;
  readonly #device: string;
  readonly #stream: NativeStream;
  /** Why commands were refused: from then on nothing is as the controller believes. */
  #refused: string | undefined;

  constructor(threads: number, mesh = 0n, refuseNaN = false, devices: readonly string[] = []) {
    super();
    this.#mesh = mesh;
    const { actor, proc } = context();
    const { rank } = actor.rank;
    const stream = (device: string) => addon().newStream(rank, threads, refuseNaN, device, proc.rank);
    this.#device = devices[rank] ?? devices[0] ?? "cpu";
    try {
      this.#stream = stream(this.#device);
    } catch (error) {
      if (this.#device === "cpu") throw error;
      // An actor that cannot be made is a failure of its mesh, which ends programs: this one is the controller's alone.
      this.#refused = `rank ${rank}, process ${process.pid} of ${hostname()}, ${(error as Error).message}`;
      this.#stream = stream("cpu");
    }
  }

  begin(): void {
    if (this.#refused !== undefined) throw new Error(this.#refused);
  }

  run(commands: Uint8Array): void {
    this.#watch(addon().submitCommands(this.#stream, commands));
  }

  put(reference: bigint, value: TensorValue): void {
    using tensor = localTensor(value);
    this.#watch(addon().putTensor(this.#stream, Number(reference), tensor));
  }

  lend(reference: bigint, key: TensorKey): void {
    bring(
      key,
      this.#copy(reference).then((tensor): Brought => ({ tensors: [tensor] })),
    );
  }

  give(reference: bigint, key: TensorKey, to: TensorDeskMesh): void {
    // What comes next does not wait for it: the copy is of now.
    void sendCopy(this.#copy(reference), key, to as TensorDeskMesh<never>);
  }

  async take(number: bigint, taken: readonly TakenTensor[], op: string, site: string): Promise<void> {
    const brought = await takeOver({ mesh: this.#mesh, number });
    const tensors = "failure" in brought ? [] : brought.tensors;
    for (const [index, { reference, type }] of taken.entries()) {
      const tensor = tensors[index];
      const put =
        tensor !== undefined && isSameType(tensor, type)
          ? addon().putTensor(this.#stream, Number(reference), tensor)
          : addon().failTensor(this.#stream, Number(reference), op, site, whyNot(brought, tensor, type));
      this.#watch(put);
    }
    for (const tensor of tensors) tensor.dispose();
  }

  async fetch(reference: bigint): Promise<FetchedTensor> {
    try {
      using tensor = await this.#copy(reference);
      return { value: tensorValue(tensor) };
    } catch (error) {
      if (this.#refused !== undefined) return { failure: { message: this.#refused } };
      const { message, op, site, rank } = error as Error & Omit<TensorFailure, "message">;
      return {
        failure: {
          message,
          ...(op === undefined ? {} : { op }),
          ...(site === undefined ? {} : { site }),
          ...(rank === undefined ? {} : { rank }),
        },
      };
    }
  }

  offer(ranks: number): TensorEnd {
    const version = offeredNccl(this.#stream, this.#device);
    const end = { machine: machine(), ...addon().offerLines(this.#stream, context().actor.rank.rank, ranks) };
    return version === 0 ? end : { ...end, nccl: version };
  }

  listen(): TensorAddresses {
    return { addresses: addon().listenLines(this.#stream, ownAddress()) };
  }

  async join(
    extent: readonly number[],
    ends: readonly TensorEnd[],
    addresses: readonly TensorAddresses[],
  ): Promise<void> {
    const { rank } = context().actor.rank;
    const own = machine();
    const reached = ends.map((end, peer) => (end.machine === own ? end : (addresses[peer]?.addresses[rank] ?? end)));
    await addon().joinLines(this.#stream, extent, reached, agreesOnNccl(ends, rank));
  }

  async finish(): Promise<TensorCounts> {
    const { tensors, calls } = await addon().streamStats(this.#stream);
    if (this.#refused !== undefined) throw new Error(this.#refused);
    return { tensors: BigInt(tensors), calls: BigInt(calls) };
  }

  override cleanup(): void {
    endExchanges(this.#mesh);
    addon().closeStream(this.#stream);
  }

  #copy(reference: bigint): Promise<Tensor> {
    return addon().fetchTensor(this.#stream, Number(reference)) as Promise<Tensor>;
  }

  #watch(done: Promise<void>): void {
    done.catch((error: Error) => {
      this.#refused ??= error.message;
    });
  }
}

function whyNot(brought: Brought, tensor: Tensor | undefined, type: TakenTensor["type"]): string {
  if ("failure" in brought) return brought.failure.message;
  const answered = tensor === undefined ? `${brought.tensors.length} tensors` : typeText(tensor);
  return `it answered ${answered} where @propagate says ${typeText(type)}`;
}
