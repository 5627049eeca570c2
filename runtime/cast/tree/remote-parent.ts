/** The parent of a node on another proc: it writes the frames that go up the tree. */
import type { ProcId } from "../../link/address.js";
import { type DeliveryError, deliveryReasons } from "../../link/errors.js";
import { writeText, writeU32, writeU64 } from "../../link/frame/control-body.js";
import { beginFrame, FrameKind, HEADER_BYTES } from "../../link/frame/frame.js";
import type { Link } from "../../link/link.js";
import type { Writer } from "../../wire/writer.js";
import { type AnswerGroup, AnswerKind, writeAnswers } from "./answers.js";
import { writeRuns } from "./rank-runs.js";
import type { SchemaGroup } from "./schema-group.js";
import type { NodeParent, TreeHost } from "./tree-node-types.js";

/** The number of bytes of answers that go into one frame, unless a single answer has more. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
/** An upper bound for the bytes of a frame besides the answer. */
const ANSWER_OVERHEAD = 1024;

export class RemoteParent implements NodeParent {
  readonly link: Link;
  readonly #handle: number;
  readonly #host: TreeHost;

  /**
   * Creates the parent of a part.
   * @param handle the number of the part on the proc above
   */
  constructor(host: TreeHost, link: Link, handle: number) {
    this.#host = host;
    this.link = link;
    this.#handle = handle;
  }

  ready(others: readonly SchemaGroup[]): void {
    this.#send(FrameKind.treeReady, 0, (w) => {
      writeU32(w, others.length);
      for (const { schema, ranks } of others) {
        writeU64(w, schema.fingerprint);
        writeText(w, schema.description);
        writeRuns(w, ranks);
      }
    });
  }

  answers(seq: number, groups: readonly AnswerGroup[]): void {
    let part: AnswerGroup[] = [];
    let bytes = 0;
    for (const whole of groups) {
      const group = this.#fittingAnswer(whole);
      const size = answerBytes(group);
      if (part.length > 0 && bytes + size > MAX_ANSWER_BYTES) {
        this.#sendAnswers(seq, part);
        part = [];
        bytes = 0;
      }
      part.push(group);
      bytes += size;
    }
    if (part.length > 0) this.#sendAnswers(seq, part);
  }

  taken(casts: number): void {
    this.#send(FrameKind.taken, casts, () => {});
  }

  /**
   * Reports a lost proc.
   * @param orphan whether the root is told directly, by the number of the tree, because the procs in between were lost
   */
  lost(proc: ProcId, { message }: DeliveryError, orphan = false): void {
    this.#send(FrameKind.treeLost, orphan ? 1 : 0, (w) => {
      writeU64(w, proc);
      writeText(w, message);
    });
  }

  bounced(label: string, error: DeliveryError): void {
    this.#send(FrameKind.castBounce, deliveryReasons.indexOf(error.reason), (w) => {
      writeText(w, label);
      writeText(w, error.message);
    });
  }

  /** Returns the answer, or an error if the answer does not fit into a frame with the other fields. */
  #fittingAnswer(group: AnswerGroup): AnswerGroup {
    const { maxFrame } = this.#host.limits;
    const runs = group.ranks.length * 8;
    const size = answerBytes(group);
    if (HEADER_BYTES + ANSWER_OVERHEAD + runs + size <= maxFrame) return group;
    const why = `cannot send the answer: it has ${size} bytes, more than the limit of ${maxFrame} for a frame; send it in parts`;
    return { ...this.#host.answerOfError(new RangeError(why)), kind: AnswerKind.error, ranks: group.ranks };
  }

  #sendAnswers(seq: number, groups: readonly AnswerGroup[]): void {
    this.#send(FrameKind.answers, seq, (w) => writeAnswers(w, groups));
  }

  #send(kind: number, b: number, body: (w: Writer) => void): void {
    const { outbox } = this.link;
    const at = beginFrame(outbox.writer, kind, this.#handle, b);
    body(outbox.writer);
    outbox.commit(at);
  }
}

function answerBytes({ bytes, blocks }: AnswerGroup): number {
  return blocks.reduce((sum, block) => sum + block.length, bytes.length);
}
