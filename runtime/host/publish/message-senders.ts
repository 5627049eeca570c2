/**
 * The programs that send messages to a published mesh. Each of them sends through one host at a time, in order. When it
 * moves to another host, it asks which messages have arrived, and sends the others again. From then on, messages that
 * still arrive through the earlier host are refused, so that nothing is handled twice or out of order.
 */
import type { MessageOrder, MovedSender, SenderMove } from "../../../generated/published.js";

/** The number of senders that are remembered. A sender that was forgotten repeats nothing when it moves. */
const MOST_SENDERS = 4096;

interface KnownSender {
  /** The largest number of a message that has arrived. */
  received: number;
  /** The number of moves of the sender to another host. */
  moves: number;
}

/** The last messages of senders, from which another process continues. */
export interface KnownSenders {
  readonly senders: readonly (KnownSender & { readonly sender: bigint })[];
  readonly hasForgotten: boolean;
}

export class MessageSenders {
  readonly #known = new Map<bigint, KnownSender>();
  #hasForgotten = false;

  /** The senders from which messages have arrived, as another process takes them over. */
  get known(): KnownSenders {
    const senders = [...this.#known].map(([sender, known]) => ({ sender, ...known }));
    return { senders, hasForgotten: this.#hasForgotten };
  }

  /** Continues with the senders of another process. */
  restore({ senders, hasForgotten }: KnownSenders): void {
    for (const { sender, received, moves } of senders) this.#known.set(sender, { received, moves });
    this.#hasForgotten = hasForgotten;
  }

  /** Records the arrival of a message. @throws Error if it comes through a host that its sender has left */
  received({ sender, sequence, moves }: MessageOrder): void {
    const known = this.#known.get(sender);
    if (known === undefined) {
      this.#remember(sender, { received: sequence, moves });
      return;
    }
    if (moves < known.moves) throw new Error("the message has arrived after its sender had moved to another host");
    if (sequence > known.received) known.received = sequence;
  }

  /** Records that a sender moves. Returns what it has to know to send the right messages again. */
  move({ sender, moves }: SenderMove): MovedSender {
    const known = this.#known.get(sender);
    if (known !== undefined) {
      known.moves = Math.max(known.moves, moves);
      return { isPublished: true, received: known.received };
    }
    if (this.#hasForgotten) return { isPublished: true };
    this.#remember(sender, { received: 0, moves });
    return { isPublished: true, received: 0 };
  }

  #remember(sender: bigint, known: KnownSender): void {
    this.#known.set(sender, known);
    if (this.#known.size <= MOST_SENDERS) return;
    const [oldest] = this.#known.keys();
    this.#known.delete(oldest!);
    this.#hasForgotten = true;
  }
}
