/**
 * The messages of other programs to a mesh that this program has published: decodes them, sends them to the actor, and
 * encodes the answers. They are sent at once, so that they keep their order.
 */
import type {
  MovedSender,
  PublishedDimension,
  RelayedAnswer,
  RelayedCall,
  RelayedError,
  SenderMove,
} from "../../../generated/published.js";
import { deadlockReason } from "../../actor/call/caller-state.js";
import type { Dispatcher } from "../../actor/call/dispatcher.js";
import { createDispatcher } from "../../actor/call/intercepted-dispatcher.js";
import { startSingleCall } from "../../actor/call/start-call.js";
import { StreamCall } from "../../actor/call/stream-call.js";
import { reasonOf } from "../../actor/delivery/forward-failure.js";
import { ActorError, DeliveryError, SupervisionError } from "../../actor/errors.js";
import { MeshView } from "../../actor/reference/mesh-view.js";
import { emptyChain, isInChain } from "../../link/frame/message-extension.js";
import { MappedStream } from "../../proc/agent/mapped-stream.js";
import { ownerChanged } from "../../proc/agent/published-meshes.js";
import { baseRank, singleRankRegion } from "../../shape/index.js";
import { errorChainOf } from "../../thrown.js";
import type { Codec } from "../../wire/codec.js";
import { codec } from "../../wire/composed/index.js";
import { MessageSenders } from "./message-senders.js";
import { refusedEndpoints } from "./refused-endpoints.js";

/** The number of slices whose views are kept. */
const MOST_VIEWS = 1024;

/** A message that was decoded, with the dispatcher that sends it. */
interface DecodedMessage {
  readonly to: Dispatcher;
  readonly args: readonly unknown[];
}

export class ReceivedMessages {
  readonly #whole: MeshView;
  readonly #senders = new MessageSenders();
  readonly #views = new Map<string, MeshView>();
  /** Whether another process takes the mesh over. What fails from then on fails because this process leaves the actors. */
  #isGivenUp = false;

  /** @param whole the view of the whole published mesh */
  constructor(whole: MeshView) {
    this.#whole = whole;
  }

  /** Leaves the mesh to another process. Calls that are under way are answered with an error. */
  giveUp(): void {
    this.#isGivenUp = true;
  }

  /** The programs from which messages have come. */
  get senders(): MessageSenders {
    return this.#senders;
  }

  /** Sends a message. Never rejects. */
  async call(message: RelayedCall, signal: AbortSignal): Promise<RelayedAnswer> {
    try {
      if (message.order !== undefined) this.#senders.received(message.order);
      const { to, args } = this.#decode(message, signal);
      to.check(args);
      if (!message.isCall) {
        // One sender sends for all callers of other programs, so it waits for the credit of each message.
        await to.castOne(args, message.sliceRank);
        return {};
      }
      return encodeValue(to.result, await startSingleCall(to, args, message.sliceRank));
    } catch (error) {
      return this.#answerOf(error);
    }
  }

  #answerOf(error: unknown): RelayedAnswer {
    return this.#isGivenUp ? ownerChanged : answerOf(error);
  }

  /** Calls a streaming endpoint. The last item has the error, if there is one. */
  stream(message: RelayedCall, signal: AbortSignal): AsyncIterableIterator<RelayedAnswer> {
    try {
      if (message.order !== undefined) this.#senders.received(message.order);
      const { to, args } = this.#decode(message, signal);
      to.check(args);
      const { region, record, descriptor } = to.view;
      const single = singleRankRegion(region, to.view.point(message.sliceRank));
      const call = new StreamCall(to.label, to.result, new MeshView(record, descriptor, single));
      const refused = to.callOne(args, message.sliceRank, call.callAt(0), call);
      if (refused !== undefined) call.abandon(refused, 0);
      else call.guard(to.clock, to.timeout, signal);
      const failed = (error: unknown) => this.#answerOf(error);
      return new MappedStream(call, ([, value]) => encodeValue(to.result, value), failed, signal);
    } catch (error) {
      return streamOf(answerOf(error));
    }
  }

  /** Takes the messages of a sender through another host from now on. */
  moveSender(move: SenderMove): MovedSender {
    return this.#senders.move(move);
  }

  #decode(message: RelayedCall, signal: AbortSignal): DecodedMessage {
    const { descriptor, record } = this.#whole;
    const { endpoint: id, name, timeout, traceparent, chain = emptyChain } = message;
    const index = descriptor.endpoints.findIndex((endpoint) => endpoint.id === id);
    const endpoint = descriptor.endpoints[index];
    if (endpoint === undefined) {
      throw new TypeError(
        `cannot call ${record.name}.${name}: the mesh has no endpoint ${id} "${name}", because the program that has ` +
          `published it has another schema of ${descriptor.key}`,
      );
    }
    const refused = refusedEndpoints(descriptor).get(endpoint);
    if (refused !== undefined) throw new TypeError(refused);
    const args = endpoint.args.fromProtobuf(message.args);
    // Infinity: the limit of the endpoint's `@timeout` has been applied by the caller.
    const view = this.#viewOf(message);
    const to = createDispatcher(view, index, { timeout: timeout ?? Infinity, traceparent, signal, chain });
    if (message.isCall && isInChain(chain, view.target(message.sliceRank).token)) {
      throw new DeliveryError("deadlock", deadlockReason(`${record.name}[${message.rank}]`));
    }
    return { to, args };
  }

  /**
   * Returns a view in which the actor has the rank that it has in the slice of the caller. All ranks of the view are the
   * same actor, because the other actors of the slice do not matter to this message.
   */
  #viewOf({ rank, slice, key }: RelayedCall): MeshView {
    const { record, descriptor } = this.#whole;
    const { size, region: ranks } = this.#whole;
    if (!(rank < size)) throw new RangeError(`cannot call rank ${rank}: mesh "${record.name}" has ${size}`);
    if (slice === undefined && key === undefined) return this.#whole;
    const id = JSON.stringify([rank, slice, key]);
    let view = this.#views.get(id);
    if (view === undefined) {
      const shape = slice ?? [];
      const region = {
        labels: shape.map(({ name }) => name),
        sizes: shape.map(({ size }) => size),
        offset: baseRank(ranks, rank),
        strides: shape.map(() => 0),
      };
      view = new MeshView(record, descriptor, region, key);
      if (this.#views.size >= MOST_VIEWS) this.#views.clear();
      this.#views.set(id, view);
    }
    return view;
  }
}

/** Returns the dimensions of a slice as messages carry them. */
export function dimensionsOf(extent: Readonly<Record<string, number>>): PublishedDimension[] {
  return Object.entries(extent).map(([name, size]) => ({ name, size }));
}

const valueCodecs = new WeakMap<Codec<unknown>, Codec<readonly [unknown]>>();

/** Returns the codec of the message that has a value as its field 1. */
export function valueCodec(of: Codec<unknown>): Codec<readonly [unknown]> {
  let made = valueCodecs.get(of);
  if (made === undefined) {
    made = codec.tuple<readonly [unknown]>(of);
    valueCodecs.set(of, made);
  }
  return made;
}

function encodeValue(result: Codec<unknown> | undefined, value: unknown): RelayedAnswer {
  return result === undefined ? {} : { value: valueCodec(result).toProtobuf([value]) };
}

async function* streamOf(answer: RelayedAnswer): AsyncGenerator<RelayedAnswer, undefined> {
  yield answer;
}

function answerOf(error: unknown): RelayedAnswer {
  if (error instanceof SupervisionError) return { failure: reasonOf(error, error.endpoint) };
  if (error instanceof DeliveryError && error.reason === "deadlock") return { deadlock: error.message };
  if (!(error instanceof ActorError)) return { errors: errorChainOf(error).map(relayedError) };
  const { remoteName: name, message, remoteStack: stack, cause } = error;
  const causes = cause === undefined ? [] : errorChainOf(cause);
  return { errors: [{ name, message, stack }, ...causes].map(relayedError) };
}

function relayedError({
  name,
  message,
  stack,
}: {
  name: string;
  message: string;
  stack: string | undefined;
}): RelayedError {
  return { name, message, ...(stack === undefined ? {} : { stack }) };
}
