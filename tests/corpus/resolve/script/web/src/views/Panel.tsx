function Panel({ text }: { text: string }) {
  return <p>{text}</p>;
}

export default Panel; //! Panel
