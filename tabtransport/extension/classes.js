/**
 * What a tool may change, as a word and as a sentence.
 *
 * @type {Record<string, {word: string, sentence: string}>}
 */
export const CLASSES = {
  read: { word: "reads", sentence: "It says that it only reads." },
  write: { word: "changes", sentence: "It may change something." },
  destructive: { word: "destructive", sentence: "It may do what cannot be undone." },
};
