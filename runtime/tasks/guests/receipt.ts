/**
 * Keeps a reference that a process sends in a message, until each receiver has borrowed it. Without this, the value could be dropped while
 * the message is on its way. A receipt is a port that nobody sends to: its holders are the receivers, so that those that end are counted out.
 */
import { codec } from "../../codegen/v1/index.js";
import {
  currentCell,
  DeliveryError,
  type LocalActor,
  mainClock,
  mainRoot,
  type OpenPort,
  type PortOwner,
  PortTarget,
  portsWritten,
  RefusingDestination,
} from "../kernel.js";

/** The time in ms for which a reference is kept whose receivers are not known, such as that of an actor to be created. */
const KEPT_MS = 60_000;

/**
 * Keeps a reference that is being written into a message.
 *
 * @returns the address of the receipt
 */
export function keepUntilReceived(ref: object): PortTarget {
  const sender = currentCell();
  const { proc, location } = { proc: sender.proc, location: sender.proc.location };
  const target = new PortTarget(proc.id, proc.random.id(), codec.boolean.fingerprint, location);
  let kept: object | undefined = ref;
  const openForHolders = (): boolean => {
    if (kept === undefined) return false;
    proc.openPort(new Receipt(keeperOf(sender), target.number, kept));
    kept = undefined;
    return true;
  };
  portsWritten.push({ target, openForHolders });
  // The receivers are announced in the same turn of the event loop, or never.
  queueMicrotask(() => {
    const left = kept;
    kept = undefined;
    if (left !== undefined) keepFor(left, KEPT_MS);
  });
  return target;
}

/** Returns the actor that has the receipt: the one that lives as long as its process, if there is one. */
function keeperOf(sender: LocalActor): LocalActor {
  const root = mainRoot();
  return root.proc === sender.proc ? root : sender;
}

function keepFor(ref: object, ms: number): void {
  const keeper = { ref: ref as object | undefined };
  mainClock().after(ms, () => {
    keeper.ref = undefined;
  });
}

class Receipt extends RefusingDestination implements OpenPort {
  readonly number: bigint;
  readonly codec = codec.boolean;
  readonly #keeper: LocalActor;
  /** The processes of the receivers that have not borrowed the reference yet, by the names of their actors. */
  readonly #holders = new Map<string, bigint>();
  #ref: object | undefined;

  constructor(keeper: LocalActor, number: bigint, ref: object) {
    super(new DeliveryError("unknown", "nothing is sent to a receipt"));
    this.#keeper = keeper;
    this.number = number;
    this.#ref = ref;
  }

  get owner(): PortOwner {
    return this.#keeper.ports;
  }

  laneOpenedBy(): void {}

  setHolder(holder: string, proc: bigint, held: boolean): void {
    if (held) this.#holders.set(holder, proc);
    else if (this.#holders.delete(holder)) this.#closeIfReceived();
  }

  peerDown(peer: bigint): void {
    let hasEnded = false;
    for (const [holder, proc] of this.#holders) if (proc === peer) hasEnded = this.#holders.delete(holder) || hasEnded;
    if (hasEnded) this.#closeIfReceived();
  }

  #closeIfReceived(): void {
    if (this.#holders.size === 0) this.close();
  }

  close(): void {
    if (this.#ref === undefined) return;
    this.#ref = undefined;
    this.#keeper.proc.closePort(this);
  }
}
