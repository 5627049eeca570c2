/**
 * The questions of a proc to its peers that wait for an answer. A question asks whether a mesh exists. Its answer also
 * confirms that the peer has received everything that was sent on the link before.
 */
import { AGENT_MESH, type MeshId } from "../../link/address.js";
import type { Link } from "../../link/link.js";

interface PendingQuestion {
  /** The link on which the question was sent. */
  readonly link: Link;
  /** Called with the answer, or with false when the link has ended. */
  readonly answered: (exists: boolean) => void;
}

export class PeerQuestions {
  readonly #pending = new Map<number, PendingQuestion>();
  #lastNumber = 0;

  /**
   * Asks the peer of a link whether a mesh exists.
   *
   * @param answered receives the answer, or false when the link ends before
   */
  ask(link: Link, mesh: MeshId, answered: (exists: boolean) => void): void {
    const number = ++this.#lastNumber;
    this.#pending.set(number, { link, answered });
    link.sendAsk(number, mesh);
  }

  /** Resolves when the peer of a link has received everything that was sent on the link, or the link has ended. */
  async whenReceived(link: Link): Promise<void> {
    if (link.ended !== undefined) return;
    await new Promise<unknown>((received) => this.ask(link, AGENT_MESH, received));
  }

  answerReceived(number: number, exists: boolean): void {
    const question = this.#pending.get(number);
    this.#pending.delete(number);
    question?.answered(exists);
  }

  linkEnded(link: Link): void {
    for (const [number, question] of this.#pending) {
      if (question.link !== link) continue;
      this.#pending.delete(number);
      question.answered(false);
    }
  }
}
