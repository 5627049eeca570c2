/**
 * Passes messages between drivers: from a driver that has looked up a mesh, through its session and that of the driver
 * that has published the mesh, and the answers back. The host does not read the messages.
 */
import type {
  FoundPublication,
  MovedSender,
  Publication,
  PublishedRankState,
  RelayedAnswer,
  RelayedCall,
  SenderMove,
} from "../../../generated/published.js";
import { offAbort, onAbort } from "../../abort-listeners.js";
import { SupervisionError } from "../../actor/errors.js";
import type { ProcId } from "../../link/address.js";
import type { Clock } from "../../link/clock.js";
import { MappedStream } from "../../proc/agent/mapped-stream.js";
import { notPublished, ownerChanged } from "../../proc/agent/published-meshes.js";
import type { agentOf } from "../../proc/proc-agents.js";
import { errorChainOf } from "../../thrown.js";
import type { MessageHold } from "./message-hold.js";
import type { Publications, PublicationUser } from "./publications.js";

/** Sends to the agent of the driver at once, with the root of its session as the sender. */
type SendToDriver = <T>(send: (agent: ReturnType<typeof agentOf>) => T) => T;

export interface PublicationRelayOptions {
  readonly publications: Publications<PublicationRelay>;
  readonly clock: Clock;
  /** The agent of the driver on this host. */
  readonly agent: ProcId;
  readonly sendToDriver: SendToDriver;
  /** Keeps messages to the driver. */
  readonly hold: MessageHold;
}

export class PublicationRelay implements PublicationUser {
  readonly #publications: Publications<PublicationRelay>;
  readonly #clock: Clock;
  /** The agent of the driver on this host. */
  readonly #agent: ProcId;
  readonly #sendToDriver: SendToDriver;
  readonly #hold: MessageHold;
  /** The number of times that another process has become the owner of the published meshes. */
  #ownerChanges = 0;
  #isEnded = false;

  constructor({ publications, clock, agent, sendToDriver, hold }: PublicationRelayOptions) {
    this.#publications = publications;
    this.#clock = clock;
    this.#agent = agent;
    this.#sendToDriver = sendToDriver;
    this.#hold = hold;
  }

  /** Names the process that owns the published meshes from now on. */
  renamePublisher(publisher: string): void {
    this.#ownerChanges++;
    this.#publications.renamePublisher(this, publisher);
  }

  /** @throws Error if another mesh has the name, or the session is ending */
  publish(publication: Publication): void {
    if (this.#isEnded) throw new Error("this program is leaving the host");
    this.#publications.add(publication, this);
  }

  unpublish(publication: bigint, reason: string): void {
    this.#publications.remove(publication, this, reason);
  }

  /** Returns the mesh that is published by a name, after waiting for it for `wait` ms at most. Never rejects. */
  async find(name: string, wait: number, signal: AbortSignal): Promise<FoundPublication> {
    const found = this.#publications.findByName(name, this);
    if (found.publication !== undefined || wait === 0) return found;
    await new Promise<void>((resolve) => {
      const done = () => {
        stop();
        timer.cancel();
        offAbort(signal, done);
        resolve();
      };
      const stop = this.#publications.onPublished(name, done);
      const timer = this.#clock.after(wait, done);
      onAbort(signal, done);
    });
    return this.#isEnded ? { names: [] } : this.#publications.findByName(name, this);
  }

  /**
   * Sends a message to the driver that has published the mesh. Sends at once, unless messages to that driver are kept; then
   * they are sent in their order afterwards. Never rejects.
   */
  async call(call: RelayedCall, signal: AbortSignal): Promise<RelayedAnswer> {
    const published = this.#publications.find(call.publication);
    if (published === undefined) return notPublished;
    const { opened } = published.by.#hold;
    if (opened !== undefined) {
      await opened;
      if (published.by.#isEnded) return notPublished;
      if (signal.aborted) return {};
    }
    const hasOwner = published.by.#ownerCheck();
    try {
      const answer = published.by.#sendToDriver((agent) => agent.callPublished.callOne(call));
      const cancel = () => answer.cancel();
      onAbort(signal, cancel);
      answer.then(
        () => offAbort(signal, cancel),
        () => {},
      );
      return await answer;
    } catch (error) {
      return answerOf(error, published.publication, hasOwner());
    }
  }

  /** Calls a streaming endpoint of the driver that has published the mesh. Sends at once. */
  stream(call: RelayedCall, signal: AbortSignal): AsyncIterable<RelayedAnswer> {
    const published = this.#publications.find(call.publication);
    if (published === undefined) return streamOf(notPublished);
    const { by, publication } = published;
    let hasOwner = () => true;
    const open = () => {
      hasOwner = by.#ownerCheck();
      return by.#sendToDriver((agent) => agent.streamPublished.stream(call));
    };
    const { opened } = by.#hold;
    const items =
      opened === undefined ? open() : new LaterStream(opened.then(() => (by.#isEnded ? undefined : open())));
    const failed = (error: unknown) => answerOf(error, publication, hasOwner());
    return new MappedStream(items, ([, answer]) => answer, failed, signal);
  }

  /** Returns a function that returns whether the meshes still have the owner that they have now. */
  #ownerCheck(): () => boolean {
    const changes = this.#ownerChanges;
    return () => this.#ownerChanges === changes && this.#hold.opened === undefined;
  }

  /** Never rejects. */
  async rankState(publication: bigint, rank: number): Promise<PublishedRankState> {
    const published = this.#publications.find(publication);
    if (published === undefined) return "lost";
    if (published.by.#hold.opened !== undefined) return "restarting";
    const asked = published.by.#sendToDriver((agent) => agent.publishedRankState.callOne(publication, rank));
    return asked.catch(() => "lost" as const);
  }

  /** Sends the driver's messages to a published mesh through this host from now on. Never rejects. */
  async moveSender(move: SenderMove): Promise<MovedSender> {
    const published = this.#publications.use(move.publication, this);
    if (published === undefined) return { isPublished: false };
    await published.by.#hold.opened;
    const asked = published.by.#sendToDriver((agent) => agent.movePublishedSender.callOne(move));
    return asked.catch(() => ({ isPublished: false }));
  }

  publicationEnded(publication: bigint, reason: string, where: "everywhere" | "here"): void {
    const left = where === "here" ? [this.#agent] : [];
    const tell = () => {
      if (!this.#isEnded) this.#sendToDriver((agent) => agent.publicationEnded.broadcast(publication, reason, ...left));
    };
    const { opened } = this.#hold;
    if (opened === undefined) tell();
    else void opened.then(tell);
  }

  /** Withdraws all meshes of the driver, because its session ends. Idempotent. */
  end(): void {
    this.#isEnded = true;
    this.#publications.removeAllOf(this);
  }
}

/**
 * The meshes of a driver end with the driver; other errors concern one message.
 * @param hasOwner whether the meshes have the same owner as when the message was sent
 */
function answerOf(error: unknown, { name, publisher }: Publication, hasOwner: boolean): RelayedAnswer {
  if (error instanceof SupervisionError && !hasOwner) return ownerChanged;
  if (error instanceof SupervisionError)
    return { ended: `${publisher}, which had published "${name}", is gone: ${error.message}` };
  const errors = errorChainOf(error).map(({ name, message, stack }) => ({
    name,
    message,
    ...(stack !== undefined && { stack }),
  }));
  return { errors };
}

type StreamItems = AsyncIterator<readonly [unknown, RelayedAnswer]>;

/** A stream that is opened later. Its source is undefined if the publisher ends before. */
class LaterStream implements StreamItems {
  readonly #source: Promise<StreamItems | undefined>;

  constructor(source: Promise<StreamItems | undefined>) {
    this.#source = source;
  }

  async next(): Promise<IteratorResult<readonly [unknown, RelayedAnswer]>> {
    const source = await this.#source;
    if (source === undefined) throw new Error("the program that has published the mesh is gone");
    return source.next();
  }

  async return(): Promise<IteratorResult<readonly [unknown, RelayedAnswer]>> {
    // A stream that was not opened yet is left as soon as it is.
    void this.#source.then((source) => source?.return?.());
    return { done: true, value: undefined };
  }
}

async function* streamOf(answer: RelayedAnswer): AsyncGenerator<RelayedAnswer, undefined> {
  yield answer;
}
