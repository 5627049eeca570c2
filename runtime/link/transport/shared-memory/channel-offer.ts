/**
 * The first messages of the two ends of a Unix socket, where one end offers shared memory; see *shared memory* in
 * docs/reference/protocol.md. Both messages begin with a magic number with which no frame and no handshake begins.
 */

/** The first word of both messages: "VCRM". */
const OFFER_MAGIC = 0x4d524356;
const OFFER_VERSION = 1;
const TOKEN_OFFSET = 32;

export const OFFER_BYTES = 48;
export const ANSWER_BYTES = 8;
export const TOKEN_BYTES = 16;

/** A channel that the peer can join. The numbers are file descriptors of the process that offers the channel. */
export interface ChannelOffer {
  /** The size of each ring, in bytes. */
  readonly bytes: number;
  readonly pid: number;
  readonly memory: number;
  readonly waker: number;
  readonly awaited: number;
  readonly token: Uint8Array;
}

/**
 * Classifies the first bytes of a side: `more` bytes are needed, they are something `else`, or they are the `whole`
 * expected message.
 */
export function classifyFirstBytes(bytes: Uint8Array, fill: number, size: number): "more" | "else" | "whole" {
  const magic = new DataView(bytes.buffer, bytes.byteOffset);
  for (let i = 0; i < Math.min(fill, 4); i++)
    if (magic.getUint8(i) !== ((OFFER_MAGIC >>> (8 * i)) & 0xff)) return "else";
  return fill < size ? "more" : "whole";
}

export function writeOffer({ bytes, pid, memory, waker, awaited, token }: ChannelOffer): Uint8Array {
  const offer = new Uint8Array(OFFER_BYTES);
  const view = new DataView(offer.buffer);
  for (const [i, word] of [OFFER_MAGIC, OFFER_VERSION, bytes, pid, memory, waker, awaited].entries()) {
    view.setUint32(i * 4, word, true);
  }
  offer.set(token, TOKEN_OFFSET);
  return offer;
}

/**
 * Reads an offer.
 * @returns undefined if the offer has another version and is to be declined
 */
export function readOffer(offer: Uint8Array): ChannelOffer | undefined {
  const view = new DataView(offer.buffer, offer.byteOffset);
  const word = (index: number): number => view.getUint32(index * 4, true);
  if (word(1) !== OFFER_VERSION) return undefined;
  const token = offer.slice(TOKEN_OFFSET, TOKEN_OFFSET + TOKEN_BYTES);
  return { bytes: word(2), pid: word(3), memory: word(4), waker: word(5), awaited: word(6), token };
}

export function writeAnswer(taken: boolean): Uint8Array {
  const answer = new Uint8Array(ANSWER_BYTES);
  const view = new DataView(answer.buffer);
  view.setUint32(0, OFFER_MAGIC, true);
  view.setUint32(4, taken ? 1 : 0, true);
  return answer;
}

/**
 * Reads the answer to an offer.
 * @returns whether the offer was accepted
 */
export function readAnswer(answer: Uint8Array): boolean {
  return new DataView(answer.buffer, answer.byteOffset).getUint32(4, true) === 1;
}
