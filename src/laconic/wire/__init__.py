"""Read and write the providers' JSON, keeping the bytes of what is not understood or not touched."""
