import { open } from "node:fs/promises";
import { context } from "viceroy";
import { AnalystActor, type AnalystMesh, type Outcome, type Piece, type Totals } from "../generated/analyst.js";
import { reasonOf } from "./inputs.js";
import { countLines, isBinary, readPiece } from "./pieces.js";
import { countWords, mergeWords, mostFrequentWords } from "./words.js";

const decoder = new TextDecoder();

export class WordAnalyst extends AnalystActor {
  readonly #totals: Totals = { pieces: 0, bytes: 0, lines: 0, words: 0 };
  readonly #words = new Map<string, number>();

  async analyse(piece: Piece): Promise<Outcome> {
    let bytes: Uint8Array;
    try {
      await using file = await open(piece.file);
      if (await isBinary(file)) return { kind: "binary" };
      bytes = await readPiece(file, piece);
    } catch (error) {
      return { kind: "unreadable", reason: reasonOf(error) };
    }
    this.#totals.pieces++;
    this.#totals.bytes += bytes.length;
    this.#totals.lines += countLines(bytes);
    this.#totals.words += countWords(decoder.decode(bytes), this.#words);
    return { kind: "counted" };
  }

  totals() {
    return this.#totals;
  }

  words() {
    return this.#words;
  }

  async absorb(others: AnalystMesh) {
    mergeWords(await others.slice(context().rank).words.callOne(), this.#words);
  }

  mostFrequent(count: number, letters: number) {
    return mostFrequentWords(this.#words, count, letters);
  }
}
