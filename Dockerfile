# The gateway with what a team needs. Build it from this folder: `docker build -t laconic .`
ARG PYTHON=3.13
FROM python:${PYTHON}-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE constraints.txt ./
COPY src ./src
RUN python -m venv /opt/laconic \
    && /opt/laconic/bin/pip install --no-cache-dir --constraint constraints.txt '.[team]'

FROM python:${PYTHON}-slim
RUN useradd --system --uid 10001 --home-dir /var/lib/laconic --create-home laconic
COPY --from=build /opt/laconic /opt/laconic
ENV PATH=/opt/laconic/bin:$PATH \
    LACONIC_CACHE_DIR=/var/lib/laconic/cache \
    LACONIC_STATE_DIR=/var/lib/laconic/state
USER 10001
WORKDIR /var/lib/laconic
EXPOSE 8787
ENTRYPOINT ["laconic"]
CMD ["gateway", "--listen", "0.0.0.0:8787", "--insecure", "--token-file", "/run/secrets/gateway_token"]
