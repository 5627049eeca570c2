/** The tensors of one process of a mesh. What executes commands is a thread of the addon's; here is what comes in and goes out. */
import type {
  FetchedTensor,
  TensorAddresses,
  TensorCounts,
  TensorEnd,
  TensorFailure,
  TensorValue,
} from "../../generated/tensor.js";
import { TensorWorkerActor } from "../../generated/tensor.js";
import { context } from "../index.js";
import type { NativeStream } from "../native/tensor.js";
import { addon } from "./addon.js";
import { machine, ownAddress } from "./machine.js";
import type { Tensor } from "./tensor.js";
import { localTensor, tensorValue } from "./value.js";

/** @internal */
export class StreamWorker extends TensorWorkerActor {
  readonly #stream: NativeStream;
  /** Why commands were refused: from then on nothing is as the controller believes. */
  #refused: string | undefined;

  constructor(threads: number) {
    super();
    this.#stream = addon().newStream(context().actor.rank.rank, threads);
  }

  run(commands: Uint8Array): void {
    this.#watch(addon().submitCommands(this.#stream, commands));
  }

  put(reference: bigint, value: TensorValue): void {
    using tensor = localTensor(value);
    this.#watch(addon().putTensor(this.#stream, Number(reference), tensor));
  }

  async fetch(reference: bigint): Promise<FetchedTensor> {
    try {
      using tensor = (await addon().fetchTensor(this.#stream, Number(reference))) as Tensor;
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
    return { machine: machine(), ...addon().offerLines(this.#stream, context().actor.rank.rank, ranks) };
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
    await addon().joinLines(this.#stream, extent, reached);
  }

  async finish(): Promise<TensorCounts> {
    const { tensors, calls } = await addon().streamStats(this.#stream);
    if (this.#refused !== undefined) throw new Error(this.#refused);
    return { tensors: BigInt(tensors), calls: BigInt(calls) };
  }

  override cleanup(): void {
    addon().closeStream(this.#stream);
  }

  #watch(done: Promise<void>): void {
    done.catch((error: Error) => {
      this.#refused ??= error.message;
    });
  }
}
